import { SYSTEM_ACTOR } from '../../../src/changes/audit/audit-entry.ts'
import { issueLink } from '../../../src/organisation/admin-sign-in/sign-in-link.ts'
import { createAdmin } from '../../../src/organisation/admins/create-admin.ts'
import type { RunChange } from '../../../src/changes/change.ts'

let count = 0

/** Makes an admin who has not signed in yet, and answers the token of the link that invites them. */
export async function inviteAdmin(runChange: RunChange) {
  count += 1
  const email = `invited-${count}@example.com`
  const person = { email, firstName: 'Mary', lastName: 'Jackson', access: 'full' } as const
  const { token } = await runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    issueLink(change, await createAdmin(change, person), 'invitation'),
  )
  return { email, token }
}
