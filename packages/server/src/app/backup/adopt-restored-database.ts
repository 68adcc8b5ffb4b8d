/*
 * What a database needs that is older than what the world was told of it: nothing that was given out and is lost may
 * be given out again with another meaning, and receivers learn what is so now.
 */
import type { Change } from '../../changes/change.ts'
import type { JsonObject } from '../../changes/audit/audit-entry.ts'
import { clearPreparation } from '../../organisation/settings/organisation-store.ts'
import { skipGivenNumbers } from '../../schema/given-numbers-store.ts'
import { requestRestatement } from '../../signals/history/restate-streams.ts'
import { renewUnnumberedSets, skipSequences } from '../../signals/history/sequence-store.ts'

/** What a database goes back to. */
export interface RestoreFacts {
  /** One sentence for the audit log, without the actor. */
  readonly description: string
  /** For the audit log. */
  readonly facts: JsonObject
}

/** What follows. */
export interface Adoption {
  /** Streams that tell the present status of every device anew. */
  readonly streamCount: number
  /** No record and no event gets a smaller number from now on. */
  readonly numbersFrom: string
}

/**
 * Takes a restored database into use, before anything else works with it. Ids of records and numbers of events go on
 * where none was given out before; what waits unsent keeps its `jti` only with the content that it had; every
 * receiver is told the present status of every device; the audit log says that it was.
 */
export async function adoptRestoredDatabase(
  change: Change,
  { description, facts }: RestoreFacts,
): Promise<Adoption> {
  const { tx } = change
  const numbersFrom = await skipGivenNumbers(tx)
  await skipSequences(tx, numbersFrom)
  await renewUnnumberedSets(tx)
  const streamCount = await requestRestatement(change)
  await clearPreparation(tx)
  change.recordAudit({
    action: 'database.restored',
    target: null,
    description,
    after: { ...facts, numbers_from: numbersFrom, streams_told_anew: streamCount },
  })
  return { streamCount, numbersFrom }
}
