/*
 * Keeps why requests of applications are refused, so that admins see what an identity provider sent wrongly. Anybody can
 * send such requests: a process writes so many a minute, and one at a time; more are dropped.
 */
import type { Foundation } from '../../../changes/foundation.ts'
import { MINUTE_MS } from '../../../platform/clock.ts'
import { findApplicationByClientId } from '../application-store.ts'
import { explainRefusal, type RefusedRequest } from './explain-refusal.ts'
import { addRefusedRequest } from './refused-request-store.ts'

export interface RefusalRecorder {
  /** Notes a refused request; it never fails, and never waits. */
  readonly note: (refused: Omit<RefusedRequest, 'expectedAuthMethod'>) => void
  /** Waits for what is being written. */
  readonly settle: () => Promise<void>
}

/** What a process writes in a minute. */
export const REFUSALS_A_MINUTE_MAX = 60
const CLIENT_ID_LENGTH_MAX = 200

export function createRefusalRecorder({
  db,
  clock,
  log,
}: Pick<Foundation, 'db' | 'clock' | 'log'>): RefusalRecorder {
  let minute = { beganAt: 0, count: 0 }
  let last: Promise<void> = Promise.resolve()
  const isTooMany = (at: Date) => {
    if (at.getTime() - minute.beganAt >= MINUTE_MS) minute = { beganAt: at.getTime(), count: 0 }
    minute.count += 1
    return minute.count > REFUSALS_A_MINUTE_MAX
  }
  const write = async (refused: Parameters<RefusalRecorder['note']>[0], at: Date) => {
    const clientId = refused.parameters['client_id'] ?? ''
    const application =
      clientId.length > CLIENT_ID_LENGTH_MAX
        ? undefined
        : await findApplicationByClientId(db, clientId)
    const { field, given } = explainRefusal({
      ...refused,
      expectedAuthMethod: application?.isEnabled ? application.tokenEndpointAuthMethod : undefined,
    })
    const { endpoint, error: code } = refused
    const applicationId = application?.id ?? null
    await addRefusedRequest(db, { applicationId, endpoint, code, field, given, at })
  }
  return {
    note: (refused) => {
      const at = clock.now()
      if (isTooMany(at)) return
      last = last
        .then(async () => write(refused, at))
        .catch((error: unknown) => {
          log.warn({ err: error }, 'why a request was refused could not be kept')
        })
    },
    settle: async () => last,
  }
}
