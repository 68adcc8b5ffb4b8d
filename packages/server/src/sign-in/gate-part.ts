import type { Foundation, ServicePart } from '../changes/foundation.ts'
import { createProviderGateway } from '../organisation/admin-oidc/provider-gateway.ts'
import type { Outbound } from '../platform/net/outbound.ts'
import { dueJob } from '../schema/jobs.ts'
import { applicationRoutes } from './applications/application-routes.ts'
import { attemptRetentions } from './attempts/attempt-retention-store.ts'
import { ATTEMPT_EXPIRY_CHANNEL } from './attempts/attempt-store.ts'
import { abandonAttempts } from './attempts/end-attempt.ts'
import { confirmationRoutes } from './registration/confirmation-routes.ts'
import { policyRoutes } from './policy/policy-routes.ts'
import { sessionRoutes } from './sessions/session-routes.ts'
import { upstreamRoutes } from './upstreams/upstream-routes.ts'

export interface GateSettings {
  readonly baseUrl: string
  readonly signInRetentionDays: number
}

/** Where upstream providers send browsers back to, below the base URL. */
const UPSTREAM_CALLBACK_PATH = '/sign-in/upstream/callback'

/** Signing in here: applications, upstream providers, the policy, attempts and what they grant. */
export function createGatePart(
  foundation: Foundation,
  { baseUrl, signInRetentionDays }: GateSettings,
  { outbound }: { readonly outbound: Outbound },
): ServicePart {
  const { db, runChange, clock, sealer } = foundation
  const gateway = createProviderGateway(outbound, `${baseUrl}${UPSTREAM_CALLBACK_PATH}`, clock)
  const findTargetProblem = (url: string) => gateway.findTargetProblem(url)
  return {
    name: 'sign-in gate',
    roles: ['api'],
    operations: [
      ...applicationRoutes({ db, runChange, sealer, baseUrl, findTargetProblem }),
      ...upstreamRoutes({ db, runChange, sealer, gateway }),
      ...policyRoutes({ db, runChange }),
      ...sessionRoutes({ db, runChange, clock }),
      ...confirmationRoutes({ db, runChange, clock }),
    ],
    jobs: [
      dueJob('sign-in attempts', () => abandonAttempts({ db, runChange }), {
        channel: ATTEMPT_EXPIRY_CHANNEL,
      }),
    ],
    retention: attemptRetentions(signInRetentionDays),
  }
}
