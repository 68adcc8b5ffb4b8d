import type { Foundation } from '../changes/foundation.ts'
import { authenticateApiKey } from '../organisation/api-keys/authenticate-api-key.ts'
import type { KeyUsageRecorder } from '../organisation/api-keys/key-usage-recorder.ts'
import { bearerCredential, type CallerOptions } from '../platform/http/access.ts'
import { createRateLimitStore } from '../platform/http/rate-limit-store.ts'

/** Failed authentications of one address in any 60 seconds; a script that walks every route stays below. */
const FAILED_AUTHENTICATIONS_PER_MINUTE = 270

export interface CallerSettings {
  readonly rateLimitPerMinute: number
}

/** How the callers of every surface are found and limited. */
export function createCallers(
  { clock, db }: Pick<Foundation, 'clock' | 'db'>,
  keyUsage: KeyUsageRecorder,
  { rateLimitPerMinute }: CallerSettings,
): CallerOptions {
  return {
    credentials: [
      bearerCredential(async (secret) => {
        const principal = await authenticateApiKey(db, clock, secret)
        keyUsage.recordUse(principal.id)
        return principal
      }),
    ],
    rateLimiter: createRateLimitStore(db),
    limits: {
      requestsPerMinute: rateLimitPerMinute,
      failedAuthenticationsPerMinute: FAILED_AUTHENTICATIONS_PER_MINUTE,
    },
  }
}
