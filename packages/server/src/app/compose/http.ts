import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { authenticateApiKey } from '../../organisation/api-keys/authenticate-api-key.ts'
import type { KeyUsageRecorder } from '../../organisation/api-keys/key-usage-recorder.ts'
import { endRegistrations } from '../../posture/devices/end-registrations.ts'
import { revokeSecretsOfPerson } from '../../posture/enrollment/secrets/revoke-secrets-of-person.ts'
import type { FeatureSwitches } from '../../organisation/settings/feature-switches.ts'
import { toUnavailable } from '../../platform/db/unavailable.ts'
import { createAnswerOnce } from '../../platform/http/idempotency/answer-once.ts'
import type { CallerOptions } from '../../platform/http/access.ts'
import { createHttpApp } from '../../platform/http/create-app.ts'
import { registerDocs } from '../../platform/http/docs.ts'
import { registerHealth } from '../../platform/http/health.ts'
import { registerOpenApi } from '../../platform/http/openapi.ts'
import { createRateLimitStore } from '../../platform/http/rate-limit-store.ts'
import { registerApi } from '../../platform/http/register-api.ts'
import type { ApiRoute } from '../../platform/http/route.ts'
import { deriveKey } from '../../platform/secrets/master-key.ts'
import { registerProductImages } from '../../posture/devices/product-image-routes.ts'
import { registerScim } from '../../surfaces/scim/register-scim.ts'
import type { Services } from '../services.ts'
import type { TlsSource } from '../tls-source.ts'

/** Failed authentications of one address in any 60 seconds; a script that walks every route stays below. */
const FAILED_AUTHENTICATIONS_PER_MINUTE = 270

/** Creates the HTTP server with what every process serves: health. */
export function composeHttp(services: Services, tls: TlsSource | undefined): FastifyInstance {
  const { config, db, log } = services
  const app = createHttpApp({
    logger: log,
    baseUrl: config.baseUrl,
    ...(tls === undefined ? {} : { https: tls.material }),
    limits: { bodyBytesMax: config.bodyBytesMax },
    ...(config.trustedProxies === undefined
      ? {}
      : { trustProxy: config.trustedProxies.split(',').map((proxy) => proxy.trim()) }),
    toUnavailable,
  })
  registerHealth(app, {
    database: async () => {
      await sql`select 1`.execute(db)
    },
  })
  return app
}

export interface ApiDependencies {
  readonly routes: readonly ApiRoute[]
  readonly features: FeatureSwitches
  readonly keyUsage: KeyUsageRecorder
}

/** Adds the REST API, its documents and the pictures it links to. */
export function addApi(
  app: FastifyInstance,
  services: Services,
  { routes, features, keyUsage }: ApiDependencies,
): void {
  const { config, clock, db, log, masterKeys, sealer } = services
  registerApi(app, {
    ...toCallerOptions(services, keyUsage),
    routes,
    paging: {
      baseUrl: config.baseUrl,
      cursorKey: deriveKey(masterKeys.current, 'list cursors'),
    },
    answerOnce: createAnswerOnce({
      db,
      clock,
      sealer,
      logError: (error, message) => log.error({ err: error }, message),
    }),
    isFeatureEnabled: (feature) => features.isFeatureEnabled(feature),
    toUnavailable,
  })
  registerOpenApi(app, { routes, baseUrl: config.baseUrl })
  registerDocs(app)
  registerProductImages(app)
}

/** Adds provisioning by identity providers. */
export function addScim(
  app: FastifyInstance,
  services: Services,
  keyUsage: KeyUsageRecorder,
): void {
  const { config, db, runChange } = services
  registerScim(app, {
    db,
    runChange,
    baseUrl: config.baseUrl,
    deprovisioning: { endRegistrations, revokeEnrollmentSecrets: revokeSecretsOfPerson },
    callers: toCallerOptions(services, keyUsage),
    toUnavailable,
  })
}

/** How callers are found and limited. */
export function toCallerOptions(services: Services, keyUsage: KeyUsageRecorder): CallerOptions {
  const { config, clock, db } = services
  return {
    authenticate: async (secret) => {
      const principal = await authenticateApiKey(db, clock, secret)
      keyUsage.recordUse(principal.id)
      return principal
    },
    rateLimiter: createRateLimitStore(db),
    limits: {
      requestsPerMinute: config.rateLimitPerMinute,
      failedAuthenticationsPerMinute: FAILED_AUTHENTICATIONS_PER_MINUTE,
    },
  }
}
