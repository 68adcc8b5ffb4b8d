/* The real API on a database of its own: composed as the service composes it, without a listening port. */
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { PERMISSIONS } from '../../src/schema/permissions.ts'
import type { Method, Operation } from '../../src/platform/http/operation.ts'
import type { ServiceFoundation } from '../../src/app/foundation.ts'
import { createTestKey } from '../support/api-keys.ts'
import { composeTestApi, type ComposedApi } from '../support/composed-api.ts'

/** SCIM and standard Shared Signals have documents of their own. */
const OTHER_SURFACES = /^\S+ \/(?:scim\/v2|ssf\/|\.well-known\/[\w-]+\/ssf(?:\/|$))/

/** A request as it goes over the wire. */
export interface ContractRequest {
  readonly method: Method
  /** With its query. */
  readonly url: string
  readonly key: string | null
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface ContractService {
  readonly services: ServiceFoundation
  readonly routes: readonly Operation[]
  /** `METHOD path` of all that the server answers but on its other surfaces, as the framework knows it. */
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
  const api = await composeTestApi({
    environment: {
      HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '1000000',
      HELIOGRAPH_STREAMS_MAX: '10000',
      HELIOGRAPH_WEBHOOKS_MAX: '10000',
      HELIOGRAPH_LOG_LEVEL: 'error',
      ...environment,
    },
  })
  return toContractService(api)
}

/** A service that runs, with keys to call it by. */
export async function toContractService(api: ComposedApi): Promise<ContractService> {
  const { services, routes, http, served, close } = api
  await http.ready()
  return {
    services,
    routes,
    served: served.filter((route) => !OTHER_SURFACES.test(route)),
    fullKey: await createTestKey(services, PERMISSIONS),
    readKey: await createTestKey(services, []),
    send: (request) => send(http, request),
    close,
  }
}

function send(http: FastifyInstance, request: ContractRequest): Promise<LightMyRequestResponse> {
  const { method, url, key, body, headers = {} } = request
  return http.inject({
    method,
    url,
    // Failed authentications are limited by address, and there are more operations than may fail in a minute.
    remoteAddress: key === null ? nextAddress() : '127.0.0.1',
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
    ...(body === undefined ? {} : { payload: body as object }),
  })
}

let addressCount = 0

function nextAddress(): string {
  addressCount += 1
  return `127.1.${(addressCount >> 8) & 0xff}.${addressCount & 0xff}`
}
