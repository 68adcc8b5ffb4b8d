import type { Change } from '../../changes/change.ts'
import { deletePersonCheckResults } from '../checks/person-check-result-store.ts'
import { resolveIssuesOfPerson } from './issue-store.ts'
import { recordIssueEvents } from './record-issue-events.ts'

/**
 * Resolves every open issue of a person who leaves, and ends the results that they came from: whoever is restored
 * begins without. The person must be locked. Idempotent.
 */
export async function resolvePersonIssues(change: Change, personId: string): Promise<void> {
  const at = change.now()
  const resolvedIds = await resolveIssuesOfPerson(change.tx, personId, at)
  recordIssueEvents(change, { openedIds: [], resolvedIds }, at)
  await deletePersonCheckResults(change.tx, personId)
}
