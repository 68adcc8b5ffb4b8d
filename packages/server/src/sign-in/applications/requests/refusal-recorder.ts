/*
 * Keeps why requests of applications are refused, so that admins see what an identity provider sent wrongly. Anybody
 * can send such requests: a process writes so many a minute, and one at a time; more are dropped.
 */
import type { Foundation } from '../../../changes/foundation.ts'
import { MINUTE_MS } from '../../../platform/clock.ts'
import { findApplicationByClientId, type SignInApplication } from '../application-store.ts'
import {
  explainRefusal,
  GIVEN_LENGTH_MAX,
  type ExplainedRefusal,
  type RefusedRequest,
} from './explain-refusal.ts'
import { addRefusedRequest } from './refused-request-store.ts'

export interface RefusalRecorder {
  /** Notes a request that the OpenID provider refused; it never fails, and never waits. */
  readonly note: (refused: Omit<RefusedRequest, 'expectedAuthMethod'>) => void
  /** The same for a request of which it is known what was wrong. */
  readonly noteField: (refused: RefusedRequestField) => void
  /** Waits for what is being written. */
  readonly settle: () => Promise<void>
}

/** A request of an application, and what was wrong with it. */
export interface RefusedRequestField extends ExplainedRefusal {
  readonly clientId: string
  readonly endpoint: string
  /** The error that was answered. */
  readonly code: string
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
  const write = async (clientId: string, explain: Explain, at: Date) => {
    const application =
      clientId.length > CLIENT_ID_LENGTH_MAX
        ? undefined
        : await findApplicationByClientId(db, clientId)
    await addRefusedRequest(db, {
      ...explain(application),
      applicationId: application?.id ?? null,
      at,
    })
  }
  const keep = (clientId: string, explain: Explain) => {
    const at = clock.now()
    if (isTooMany(at)) return
    last = last
      .then(async () => write(clientId, explain, at))
      .catch((error: unknown) => {
        log.warn({ err: error }, 'why a request was refused could not be kept')
      })
  }
  return {
    note: (refused) =>
      keep(refused.parameters['client_id'] ?? '', (application) => ({
        endpoint: refused.endpoint,
        code: refused.error,
        ...explainRefusal({
          ...refused,
          expectedAuthMethod: application?.isEnabled
            ? application.tokenEndpointAuthMethod
            : undefined,
        }),
      })),
    noteField: ({ clientId, endpoint, code, field, given }) =>
      keep(clientId, () => ({
        ...{ endpoint, code, field },
        given: given === null ? null : given.slice(0, GIVEN_LENGTH_MAX),
      })),
    settle: async () => last,
  }
}

/** What is kept of a request of an application; undefined for a client id that nobody has. */
type Explain = (
  application: SignInApplication | undefined,
) => Pick<RefusedRequestField, 'endpoint' | 'code' | 'field' | 'given'>
