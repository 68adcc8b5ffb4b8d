/* The real API on a database of its own: composed as the service composes it, without a listening port. */
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { createAdmin } from '../../src/admins/create-admin.ts'
import { createApiKey } from '../../src/api-keys/create-api-key.ts'
import { createKeyUsageRecorder } from '../../src/api-keys/key-usage-recorder.ts'
import { SYSTEM_ACTOR } from '../../src/audit/audit-entry.ts'
import { listRoutes } from '../../src/compose.ts'
import { addApi, composeHttp } from '../../src/compose/http.ts'
import { composeOutbound } from '../../src/compose/outbound.ts'
import { composeSigning } from '../../src/compose/ssf.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { createFeatureSwitches } from '../../src/organisation/feature-switches.ts'
import type { DatabaseConnection } from '../../src/platform/db/connection.ts'
import { PERMISSIONS, type Permission } from '../../src/platform/http/principal.ts'
import type { ApiRoute, RouteMethod } from '../../src/platform/http/route.ts'
import { openServices, type Services } from '../../src/services.ts'
import { createPollWaiters } from '../../src/ssf/poll/poll-waiters.ts'
import { createTestDatabase } from '../support/database.ts'

export const BASE_URL = 'https://trust.example.com'
const ADMIN_EMAIL = 'grace@example.com'

/** A request as it goes over the wire. */
export interface ContractRequest {
  readonly method: RouteMethod
  /** With its query. */
  readonly url: string
  readonly key: string | null
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface ContractService {
  readonly services: Services
  readonly routes: readonly ApiRoute[]
  /** `METHOD path` of everything that the HTTP server answers, as the framework knows it. */
  readonly served: readonly string[]
  /** Holds every permission. */
  readonly fullKey: string
  /** Holds none. */
  readonly readKey: string
  readonly send: (request: ContractRequest) => Promise<LightMyRequestResponse>
  readonly close: () => Promise<void>
}

/** Close it in `afterAll`. Deliveries may reach 127.0.0.1. `environment` has further settings. */
export async function startContractService(
  environment: Readonly<Record<string, string>> = {},
): Promise<ContractService> {
  const database = await createTestDatabase({ poolMax: 1 })
  const services = await openServices(
    loadConfig({
      DATABASE_URL: toUrl(database.connection),
      HELIOGRAPH_BASE_URL: BASE_URL,
      HELIOGRAPH_MASTER_KEY: randomBytes(32).toString('base64'),
      HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1',
      HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '1000000',
      HELIOGRAPH_STREAMS_MAX: '10000',
      HELIOGRAPH_WEBHOOKS_MAX: '10000',
      HELIOGRAPH_LOG_LEVEL: 'error',
      ...environment,
    }),
    { purpose: 'service' },
  )
  const outbound = await composeOutbound(services.config)
  const signing = await composeSigning(services)
  const waiters = createPollWaiters()
  const http = composeHttp(services, undefined)
  const served: string[] = []
  http.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) served.push(`${each} ${url}`)
  })
  const wake = (destinationId: string) => waiters.wake(destinationId)
  const routes = listRoutes({ services, signing, outbound, waiters, wake })
  const features = createFeatureSwitches(services.db)
  const keyUsage = createKeyUsageRecorder(services.db, services.clock)
  addApi(http, services, { routes, features, keyUsage })
  await http.ready()
  await services.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    createAdmin(change, {
      email: ADMIN_EMAIL,
      firstName: 'Grace',
      lastName: 'Hopper',
      access: 'full',
    }),
  )
  return {
    services,
    routes,
    served,
    fullKey: await createKey(services, PERMISSIONS),
    readKey: await createKey(services, []),
    send: (request) => send(http, request),
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

async function createKey(services: Services, permissions: readonly Permission[]): Promise<string> {
  const { key } = await services.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    createApiKey(change, services.sealer, {
      name: `key with ${permissions.length} permissions`,
      responsibleEmail: ADMIN_EMAIL,
      permissions: permissions.map((permission) => ({ permission, rationale: 'A test.' })),
      expiresAt: null,
    }),
  )
  return key
}

function send(http: FastifyInstance, request: ContractRequest): Promise<LightMyRequestResponse> {
  const { method, url, key, body, headers = {} } = request
  return http.inject({
    method,
    url,
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
    ...(body === undefined ? {} : { payload: body as object }),
  })
}

function toUrl(connection: DatabaseConnection): string {
  if ('url' in connection) return connection.url
  const { host, port, user, database } = connection
  const query = new URLSearchParams({ host, port: String(port) })
  return `postgresql://${user}@localhost/${database}?${query.toString()}`
}
