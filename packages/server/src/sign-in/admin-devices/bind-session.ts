/*
 * Binds the session of an admin to the device at which the admin has just signed in to the own pages as a person. Owns
 * that a binding which would not be trusted does not come about, and that both outcomes are in the audit log.
 */
import type { Change, ChangeOrigin } from '../../changes/change.ts'
import type { Foundation } from '../../changes/foundation.ts'
import {
  findDeviceProblem,
  SESSION_LIFETIME_MS,
  updateSessionDevice,
  type LiveSession,
} from '../../organisation/admin-sign-in/admin-session-store.ts'
import {
  deviceRefused,
  type DeviceProblem,
  type DeviceTrust,
} from '../../organisation/admin-sign-in/device-trust.ts'
import { describeAdmin, digestOf } from '../../organisation/admin-sign-in/sign-in.ts'
import { newSignInToken } from '../../organisation/admin-sign-in/sign-in-token.ts'
import { AppError } from '../../platform/app-error.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { ATTEMPT_LIFETIME_MS } from '../attempts/move-attempt.ts'
import { findPersonSession } from '../person-pages/session/person-session.ts'
import { findGrantedSession } from '../sessions/granted-session-store.ts'
import { grantSession } from '../sessions/grant-session.ts'

/** For how long a sign-in to the own pages is proof enough: as long as one may take. */
const PROOF_LIFETIME_MS = ATTEMPT_LIFETIME_MS

export interface BindDependencies extends Pick<Foundation, 'db' | 'clock' | 'runChange'> {
  readonly deviceTrust: DeviceTrust
}

/** What the browser of a session holds. */
export interface HeldTokens {
  /** The token of the session itself. */
  readonly session: string
  /** That of the pages of a person. */
  readonly person: string | undefined
}

/** Why a session was not bound; carried out of the change that is undone by it. */
class NotTrusted extends Error {
  readonly problem: DeviceProblem

  constructor(problem: DeviceProblem) {
    super(problem)
    this.problem = problem
  }
}

/**
 * Binds a session to the device of the person who is signed in to the own pages in the same browser, and answers its
 * new token; the one before opens nothing from then on.
 *
 * @throws AppError `trusted_device_required` where the device would not be trusted, `unauthenticated` when the session
 *   has ended or has another token meanwhile
 */
export async function bindSession(
  dependencies: BindDependencies,
  session: LiveSession,
  tokens: HeldTokens,
  origin: ChangeOrigin,
): Promise<string> {
  const { runChange } = dependencies
  try {
    return await runChange(origin, (change) => bind(dependencies, change, session, tokens))
  } catch (error) {
    if (!(error instanceof NotTrusted)) throw error
    const { problem } = error
    await runChange(origin, async (change) => {
      change.recordAudit({
        action: 'admin_session.device_refused',
        target: { type: 'admin_session', id: session.id },
        description: `did not take a session of ${describeAdmin(session.admin)} to be on a trusted device`,
        after: { problem },
      })
    })
    throw deviceRefused(problem)
  }
}

async function bind(
  { clock, deviceTrust }: BindDependencies,
  change: Change,
  session: LiveSession,
  tokens: HeldTokens,
): Promise<string> {
  const { tx } = change
  const proof = await findProof(change, clock, tokens.person)
  const granted = await grantSession(change, {
    person: proof.person,
    seconds: SESSION_LIFETIME_MS / SECOND_MS,
    applicationId: null,
    deviceId: proof.deviceId,
    assurance: proof.assurance,
    attemptId: null,
  })
  const token = newSignInToken()
  const rotated = { present: digestOf(tokens.session), next: digestOf(token) }
  if (!(await updateSessionDevice(tx, rotated, granted.id))) {
    throw new AppError('unauthenticated', 'The session has another token now. Send it again.')
  }
  const problem = await findDeviceProblem(tx, session.id, deviceTrust)
  if (problem !== null) throw new NotTrusted(problem)
  change.recordAudit({
    action: 'admin_session.device_bound',
    target: { type: 'admin_session', id: session.id },
    description: `proved the device of a session of ${describeAdmin(session.admin)}`,
    after: { device_id: proof.deviceId, person_id: proof.person.id, assurance: proof.assurance },
  })
  return token
}

/** The sign-in to the own pages that the browser has just come from. */
async function findProof({ tx }: Change, clock: Foundation['clock'], token: string | undefined) {
  const own = await findPersonSession({ db: tx, clock }, token)
  const granted = own && (await findGrantedSession(tx, { id: own.id }))
  if (own === undefined || granted === undefined) throw new NotTrusted('unbound')
  if (granted.grantedAt.getTime() + PROOF_LIFETIME_MS <= clock.now().getTime()) {
    throw new NotTrusted('proof_ended')
  }
  return own
}
