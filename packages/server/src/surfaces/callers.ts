import type { Foundation } from '../changes/foundation.ts'
import {
  authenticateSession,
  type SessionLookup,
} from '../organisation/admin-sign-in/authenticate-session.ts'
import type { ConsoleSite } from '../organisation/admin-sign-in/console-site.ts'
import { assertTrustedDevice } from '../organisation/admin-sign-in/device-trust.ts'
import { createKeyAdmission } from '../organisation/api-keys/admit-api-keys.ts'
import { authenticateApiKey } from '../organisation/api-keys/authenticate-api-key.ts'
import type { KeyUsageRecorder } from '../organisation/api-keys/key-usage-recorder.ts'
import { AppError } from '../platform/app-error.ts'
import { bearerCredential, type CallerOptions } from '../platform/http/access.ts'
import type { Credential } from '../platform/http/operation.ts'
import { createRateLimitStore } from '../platform/rate-limits/rate-limit-store.ts'
import { assertOwnPage, readSessionCookie } from '../platform/http/session-cookie.ts'
import type { Principal } from '../schema/principal.ts'

/** Failed authentications of one address in any 60 seconds; a script that walks every route stays below. */
const FAILED_AUTHENTICATIONS_PER_MINUTE = 270

/** A page of the console asks for a handful of things at once, and again whenever one of them changes. */
const SESSION_REQUESTS_PER_MINUTE = 1_200

export interface CallerSettings {
  readonly rateLimitPerMinute: number
}

/** How the callers of every surface are found and limited. */
export function createCallers(
  { clock, preparedDb: db }: Pick<Foundation, 'clock' | 'preparedDb'>,
  keyUsage: KeyUsageRecorder,
  { rateLimitPerMinute }: CallerSettings,
): CallerOptions {
  const admitKey = createKeyAdmission({ db, clock, requestsPerMinute: rateLimitPerMinute })
  return {
    credentials: [
      bearerCredential<Principal>(
        async (secret) => {
          const principal = await authenticateApiKey(db, clock, secret)
          keyUsage.recordUse(principal.id)
          return principal
        },
        async (secret, readAhead) => {
          const admission = await admitKey(secret, readAhead)
          keyUsage.recordUse(admission.caller.id)
          return admission
        },
      ),
    ],
    rateLimiter: createRateLimitStore(db, clock),
    limits: {
      requestsPerMinute: rateLimitPerMinute,
      sessionRequestsPerMinute: Math.max(rateLimitPerMinute, SESSION_REQUESTS_PER_MINUTE),
      failedAuthenticationsPerMinute: FAILED_AUTHENTICATIONS_PER_MINUTE,
    },
  }
}

/** The callers of a surface that the console uses: admins by their sessions, and whoever called it before. */
export function withSessions(
  callers: CallerOptions,
  lookup: SessionLookup,
  site: ConsoleSite,
): CallerOptions {
  return {
    ...callers,
    credentials: [createSessionCredential(lookup, site), ...callers.credentials],
  }
}

/** The session of an admin, for a request that carries its cookie and no other credential. */
function createSessionCredential(lookup: SessionLookup, site: ConsoleSite): Credential<Principal> {
  return {
    kind: 'session',
    find: async ({ method, headers, access, stepUp, opensWithoutDevice, isUse }) => {
      const token = readSessionCookie(headers, site.cookie)
      if (token === undefined || headers.authorization !== undefined) return undefined
      // What is worth stealing is no mere read, whichever method asks for it.
      assertOwnPage({ method: stepUp ? 'POST' : method, headers }, site)
      const isAttended = headers[site.unattendedHeader] === undefined
      const { principal, session } = await authenticateSession(lookup, token, {
        isUse: isUse && isAttended,
      })
      if (!opensWithoutDevice) assertTrustedDevice(session)
      if (session.isSetupPending && !(typeof access === 'object' && 'session' in access)) {
        throw new AppError(
          'sign_in_setup_required',
          'Add a passkey, or a password with a second factor, before you go on.',
        )
      }
      return principal
    },
  }
}
