import type { KeyObject } from 'node:crypto'
import { toLogError, type Foundation, type ServicePart } from '../../changes/foundation.ts'
import type { FeatureSwitches } from '../../organisation/settings/feature-switches.ts'
import { fixedRetention } from '../../schema/retention.ts'
import type { AccessCheck, CallerOptions } from '../../platform/http/access.ts'
import { registerDocs } from './docs.ts'
import { createAnswerOnce } from '../../platform/http/idempotency/answer-once.ts'
import { registerOpenApi } from './openapi.ts'
import { endStaleRateLimits } from '../../platform/rate-limits/rate-limit-store.ts'
import { registerApi } from './register-api.ts'
import type { ApiRoute } from '../../platform/http/route.ts'

export interface RestDependencies {
  readonly foundation: Foundation
  readonly routes: readonly ApiRoute[]
  readonly features: FeatureSwitches
  readonly callers: CallerOptions
  readonly checkPermission: AccessCheck
  /** Signs the cursors of lists. */
  readonly cursorKey: KeyObject
}

/** The REST API with its documents. */
export function createRestPart(
  { foundation, routes, features, callers, checkPermission, cursorKey }: RestDependencies,
  { baseUrl }: { readonly baseUrl: string },
): ServicePart {
  const { db, clock, log, sealer } = foundation
  return {
    name: 'REST API',
    roles: ['api'],
    mount: (http) => {
      registerApi(http, {
        routes,
        callers,
        checkPermission,
        paging: { baseUrl, cursorKey },
        answerOnce: createAnswerOnce({ db, clock, sealer, logError: toLogError(log) }),
        isFeatureEnabled: (feature) => features.isFeatureEnabled(feature),
      })
      registerOpenApi(http, { routes, baseUrl })
      registerDocs(http)
    },
    retention: [
      fixedRetention('rate limits', { runBatch: endStaleRateLimits }),
      fixedRetention('idempotency records'),
    ],
  }
}
