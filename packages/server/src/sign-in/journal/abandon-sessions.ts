import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { abandonSession } from './close-session.ts'
import { claimAbandonedSession, findNextExpiry } from './session-store.ts'

export type AbandonSessionsDependencies = Pick<Foundation, 'db' | 'runChange'>

/**
 * Ends every sign-in whose time is over, each in a change of its own, and answers when the next one
 * is. Any number of processes may call it at the same time.
 */
export async function abandonSessions({
  db,
  runChange,
}: AbandonSessionsDependencies): Promise<Date | undefined> {
  for (;;) {
    const isFound = await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      const session = await claimAbandonedSession(change.tx, change.at)
      if (session === undefined) return false
      await abandonSession(change, session)
      return true
    })
    if (!isFound) return findNextExpiry(db)
  }
}
