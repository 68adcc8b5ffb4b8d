/*
 * The REST API on a database of its own, composed as the service composes it, without a listening port
 * and without background work. Does not own what is added to it, nor who sends requests.
 */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { createKeyUsageRecorder } from '../../src/organisation/api-keys/key-usage-recorder.ts'
import { listRoutes } from '../../src/app/compose.ts'
import { addApi, composeHttp } from '../../src/app/compose/http.ts'
import { composeOutbound, type Outbound } from '../../src/app/compose/outbound.ts'
import { composeSigning, type Signing } from '../../src/app/compose/ssf.ts'
import type { StrictFaceParts } from '../../src/app/compose/strict-face.ts'
import { loadConfig } from '../../src/app/config/load-config.ts'
import { createFeatureSwitches } from '../../src/organisation/settings/feature-switches.ts'
import type { ApiRoute } from '../../src/platform/http/route.ts'
import type { Logger } from '../../src/platform/logger.ts'
import { openServices, type Services } from '../../src/app/services.ts'
import { createPollWaiters } from '../../src/signals/poll/poll-waiters.ts'
import { BASE_URL } from './api-app.ts'
import { createKeyAdmin } from './api-keys.ts'
import { createTestDatabase } from './database.ts'
import { toUrl } from './to-url.ts'

export interface ComposedApi {
  readonly services: Services
  readonly routes: readonly ApiRoute[]
  /** More can be added until its first request. */
  readonly http: FastifyInstance
  /** `METHOD path` of everything that the HTTP server answers, as the framework knows it. */
  readonly served: readonly string[]
  /** What the other face of the service shares with the API. */
  readonly parts: StrictFaceParts & { readonly outbound: Outbound; readonly signing: Signing }
  readonly close: () => Promise<void>
}

export interface ComposedApiOptions {
  /** Settings beside those that every test has: the database, the base URL and a master key. */
  readonly environment?: Readonly<Record<string, string>>
  readonly log?: Logger
  /** Told of every destination for which something was queued. */
  readonly onWake?: (destinationId: string) => void
}

/** Deliveries may reach 127.0.0.1. The admin of {@link createKeyAdmin} exists. */
export async function composeTestApi({
  environment = {},
  log,
  onWake,
}: ComposedApiOptions): Promise<ComposedApi> {
  const database = await createTestDatabase({ poolMax: 1 })
  const config = loadConfig({
    DATABASE_URL: toUrl(database.connection),
    HELIOGRAPH_BASE_URL: BASE_URL,
    HELIOGRAPH_MASTER_KEY: randomBytes(32).toString('base64'),
    HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1',
    ...environment,
  })
  const services = await openServices(config, {
    purpose: 'service',
    ...(log === undefined ? {} : { log }),
  })
  const outbound = await composeOutbound(config)
  const signing = await composeSigning(services)
  const waiters = createPollWaiters()
  const wake = (destinationId: string) => {
    waiters.wake(destinationId)
    onWake?.(destinationId)
  }
  const features = createFeatureSwitches(services.db)
  const keyUsage = createKeyUsageRecorder(services.db, services.clock)
  const http = composeHttp(services, undefined)
  const served: string[] = []
  http.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) served.push(`${each} ${url}`)
  })
  const routes = listRoutes({ services, signing, outbound, waiters, wake })
  addApi(http, services, { routes, features, keyUsage })
  await createKeyAdmin(services.runChange)
  return {
    services,
    routes,
    http,
    served,
    parts: { outbound, signing, waiters, wake, features, keyUsage },
    close: async () => {
      waiters.close()
      await http.close()
      await signing.pool.close()
      await outbound.client.close()
      await services.close()
      await database.close()
    },
  }
}
