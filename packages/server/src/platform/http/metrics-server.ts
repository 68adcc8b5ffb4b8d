/*
 * Prometheus metrics on a port of their own, which listens on the loopback address only. Labels are
 * routes, methods and status classes: never ids of devices or streams.
 */
import { createServer, type Server } from 'node:http'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { FastifyInstance } from 'fastify'
import { observeAnswers } from './create-app.ts'

/** A number, or one for each value of a label, that is asked for when metrics are read. */
export interface MetricSource {
  readonly name: string
  readonly help: string
  /** A counter only grows while the process lives. A gauge by default. */
  readonly kind?: 'counter' | 'gauge'
  /** Which label the numbers are told apart by; a source without one has one number. */
  readonly label?: string
  readonly read: () => Promise<number | ReadonlyMap<string, number>>
}

export interface MetricsServer {
  readonly port: number
  close(): Promise<void>
}

const DURATION_BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const MS_PER_SECOND = 1_000

/** Measures the requests of `app` and serves them with the figures of the process and of `sources`. */
export async function startMetricsServer(
  app: FastifyInstance,
  port: number,
  sources: readonly MetricSource[],
): Promise<MetricsServer> {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  measureRequests(app, registry)
  for (const source of sources) registerSource(registry, source)
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(503).end(),
    )
  })
  await listen(server, port)
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function measureRequests(app: FastifyInstance, registry: Registry): void {
  const durations = new Histogram({
    name: 'heliograph_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  })
  observeAnswers(app, ({ method, route = 'none', status, elapsedMs }) => {
    const labels = { method, route, status: `${Math.floor(status / 100)}xx` }
    durations.observe(labels, elapsedMs / MS_PER_SECOND)
  })
}

function registerSource(registry: Registry, source: MetricSource): void {
  const { name, help, kind = 'gauge', label } = source
  const Metric = kind === 'counter' ? Counter : Gauge
  const metric: Counter<string> | Gauge<string> = new Metric<string>({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    async collect() {
      const figures = await source.read()
      metric.reset()
      if (typeof figures === 'number') metric.inc(figures)
      else for (const [key, figure] of figures) metric.inc({ [label ?? '']: key }, figure)
    },
  })
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })
}
