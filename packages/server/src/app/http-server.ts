import type { FastifyInstance } from 'fastify'
import type { ServicePart } from '../changes/foundation.ts'
import { SECOND_MS } from '../platform/clock.ts'
import { createHttpApp } from '../platform/http/create-app.ts'
import { registerHealth, type ReadinessCheck } from '../platform/http/health.ts'
import { explainListening, LISTENING } from '../platform/net/explain-listening.ts'
import { periodicJob } from '../schema/jobs.ts'
import { PROCESS_ROLES } from '../schema/process-role.ts'
import { isTlsConfigured, type Config } from './config/load-config.ts'
import type { ServiceFoundation } from './foundation.ts'
import type { TlsMaterial } from '../platform/tls/tls-material.ts'
import type { TlsSource } from './tls-source.ts'

/** Longer than any answer takes but a long poll, which is ended first. */
const GRACE_MS = 5 * SECOND_MS
/** Receivers that wait come back all at once after a restart; the system caps it at its own limit. */
const LISTEN_BACKLOG = 4_096

/** Creates the HTTP server with these checks of health and what the parts serve. It does not listen. */
export function createHttp(
  { config, log }: ServiceFoundation,
  parts: readonly ServicePart[],
  checks: Readonly<Record<string, ReadinessCheck>>,
  tls?: TlsSource,
): FastifyInstance {
  const http = createHttpApp({
    logger: log,
    baseUrl: config.baseUrl,
    ...(tls === undefined ? {} : { https: tls.material }),
    limits: { bodyBytesMax: config.bodyBytesMax },
    ...(config.trustedProxies === undefined
      ? {}
      : { trustProxy: config.trustedProxies.split(',') }),
  })
  registerHealth(http, checks)
  for (const { mount } of parts) mount?.(http)
  return http
}

/**
 * Puts the routes into the router, which is long work: before the jobs of the process begin, so that whoever waits for
 * the service does not wait for those too. Nothing can be added to the server from then on.
 */
export function createRoutesPart(http: FastifyInstance): ServicePart {
  return {
    name: 'routes',
    roles: PROCESS_ROLES,
    start: async () => {
      await http.ready()
    },
  }
}

/** Listens, and renews its certificate when it is about to expire, also where others listen with it. */
export function createHttpServerPart(
  http: FastifyInstance,
  { config }: Pick<ServiceFoundation, 'config'>,
  tls: TlsSource | undefined,
  others: { readonly setTls: (material: TlsMaterial) => void },
): ServicePart {
  return {
    name: 'HTTP server',
    roles: PROCESS_ROLES,
    jobs: [periodicJob('certificate', () => renewTls(http, tls, others))],
    start: async () => {
      await listen(http, config)
    },
    stop: () => closeHttp(http),
  }
}

async function listen(http: FastifyInstance, config: Config) {
  const { host, port } = config
  // Fastify does not see that the server which it was given speaks TLS.
  const listenTextResolver = (address: string) =>
    `Server listening at ${isTlsConfigured(config) ? address.replace(/^http:/, 'https:') : address}`
  await explainListening(LISTENING.service, () =>
    http.listen({ host, port, backlog: LISTEN_BACKLOG, listenTextResolver }),
  )
}

/** Lets requests under way end; connections that are still open then are closed. */
async function closeHttp(http: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => http.server.closeAllConnections(), GRACE_MS)
  try {
    await http.close()
  } finally {
    clearTimeout(timer)
  }
}

async function renewTls(
  http: FastifyInstance,
  tls: TlsSource | undefined,
  others: { readonly setTls: (material: TlsMaterial) => void },
): Promise<void> {
  const renewed = await tls?.renewIfDue()
  if (renewed === undefined) return
  others.setTls(renewed)
  if ('setSecureContext' in http.server) {
    const server = http.server as { setSecureContext(material: object): void }
    server.setSecureContext(renewed)
  }
}
