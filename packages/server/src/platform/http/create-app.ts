/**
 * Builds the HTTP server that every surface of the service is registered in: request ids, headers that
 * hold everywhere, JSON bodies, size limits, unknown paths. It knows no routes but the retired ones;
 * access checks and the error bodies of a surface belong to the surface (`register-api.ts`).
 */
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { AppError } from '../app-error.ts'
import { SECOND_MS } from '../clock.ts'
import { runAs } from '../db/pool-turns.ts'
import { newRequestId } from '../ids.ts'
import { createAddressList } from '../net/address-list.ts'
import { answerBrokenRequest, answerUnknownExpectations, hasHost } from './broken-request.ts'
import { DirectRoutes } from './direct-routes.ts'
import {
  createErrorHandler,
  SERVICE_ERRORS,
  sendErrorAnswer,
  toErrorAnswer,
} from './error-response.ts'
import { registerJsonBody } from './json-body.ts'
import { toRequestError } from './request-error.ts'
import { RequestLog, writesDebug } from './request-log.ts'
import { createDirectHeaders, createResponseHeaders } from './response-headers.ts'
import { createSenderAddress } from './sender-address.ts'
import { readTraceId } from './trace-context.ts'
import { PathTable, unmatchedPath } from './unmatched-path.ts'

export interface HttpAppOptions {
  readonly logger: FastifyBaseLogger
  /** What the world calls the service; its scheme decides about HSTS. */
  readonly baseUrl: string
  /** PEM texts; without them the server speaks plain HTTP. */
  readonly https?: { readonly cert: string; readonly key: string }
  readonly limits: { readonly bodyBytesMax: number }
  /** Addresses or networks of proxies whose `X-Forwarded-For` is believed; none when left out. */
  readonly trustProxy?: readonly string[]
}

const REQUEST_TIMEOUT_MS = 30 * SECOND_MS
const HEADERS_TIMEOUT_MS = 20 * SECOND_MS
/** Longer than the idle time of the usual load balancers (60 s), so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 72 * SECOND_MS
/** A client has so long to finish the TLS handshake. */
const HANDSHAKE_TIMEOUT_MS = 20 * SECOND_MS
/** How late a timeout of headers or of a request may be noticed. */
const CONNECTIONS_CHECK_MS = 5 * SECOND_MS
/** A connection is closed on which nothing comes and nothing is taken; the slowest answers take half as long. */
const SILENCE_TIMEOUT_MS = 300 * SECOND_MS
const PATH_PARAM_LENGTH_MAX = 256

/**
 * Operations are checked by their own schemas (`route.ts`). Without these, every start would load the compilers of JSON
 * Schema that Fastify brings.
 */
const NO_SCHEMA_COMPILERS = {
  buildValidator: refuseSchemas,
  buildSerializer: refuseSchemas,
}

function refuseSchemas(): never {
  throw new Error('routes have no schemas of Fastify: their operations have some')
}

/** A configured instance without routes, not listening. `close()` finishes the requests under way. */
export function createHttpApp(options: HttpAppOptions): FastifyInstance {
  const isHttps = options.baseUrl.startsWith('https:')
  const isTrusted = options.trustProxy && createAddressList(options.trustProxy)
  const directRoutes = new DirectRoutes({
    toHeaders: createDirectHeaders(isHttps),
    addressOf: createSenderAddress(isTrusted),
  })
  const writeHeaders = createResponseHeaders(isHttps)
  const app = fastify({
    loggerInstance: options.logger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'request_id',
    }),
    childLoggerFactory: (logger, bindings, childOptions, { headers }) => {
      const toBindings = () => {
        const traceId = readTraceId(headers)
        return traceId === undefined ? bindings : { ...bindings, trace_id: traceId }
      }
      return new RequestLog(logger, toBindings, childOptions)
    },
    genReqId: newRequestId,
    requestIdHeader: false,
    bodyLimit: options.limits.bodyBytesMax,
    trustProxy: isTrusted ?? false,
    serverFactory: (router) => createNodeServer(directRoutes.before(router), options.https),
    schemaController: { compilersFactory: NO_SCHEMA_COMPILERS },
    rewriteUrl: ({ url = '/' }) => withPlainColons(url),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: PATH_PARAM_LENGTH_MAX },
    // Requests that arrive on open connections during a shutdown are still answered.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => {
      // These pass no hook.
      writeHeaders(request, reply)
      answerFrameworkError(error, request, reply)
    },
    clientErrorHandler: answerBrokenRequest,
  })
  registerJsonBody(app)
  app.setErrorHandler(createErrorHandler(SERVICE_ERRORS))
  registerHooks(app, writeHeaders)
  registerDirectRoutes(app, directRoutes)
  registerRetiredPaths(app)
  return app
}

/**
 * The router takes `%3A` for no colon, and there is one in the names of some paths. Behind the path it stays as it is.
 */
function withPlainColons(url: string): string {
  if (!url.includes('%3')) return url
  return url.replace(/^[^?#]*/, (path) => path.replaceAll(/%3a/gi, ':'))
}

function createNodeServer(handler: RequestListener, https: HttpAppOptions['https']): Server {
  const timeouts = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    // One without is answered here: Node.js would answer nothing but the status.
    requireHostHeader: false,
  }
  const listener: RequestListener = (request, response) => {
    if (hasHost(request, response)) handler(request, response)
  }
  const server =
    https === undefined
      ? createServer(timeouts, listener)
      : createSecureServer(
          {
            ...timeouts,
            ...https,
            handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
            minVersion: 'TLSv1.2',
          },
          listener,
        )
  answerUnknownExpectations(server)
  return server.setTimeout(SILENCE_TIMEOUT_MS)
}

function registerHooks(
  app: FastifyInstance,
  writeHeaders: ReturnType<typeof createResponseHeaders>,
): void {
  const paths = new PathTable()
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith(RETIRED_PREFIX)) paths.add(route.url, route.method, route.config)
  })
  app.addHook('onRequest', (request, reply, done) => {
    writeHeaders(request, reply)
    if (hasTwoHosts(request.raw.rawHeaders)) done(malformedHost())
    // Here and not in the not-found handler, which would read and parse the body first.
    else if (!request.is404) runAs('requests', done)
    else done(refuseUnmatched(request, reply, paths))
  })
  if (!writesDebug(app.log)) return
  app.addHook('onResponse', (request, reply, done) => {
    request.log.debug(
      {
        method: request.method,
        path: request.routeOptions.url,
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 1000) / 1000,
      },
      'request answered',
    )
    done()
  })
}

const directRoutesOf = new WeakMap<FastifyInstance, DirectRoutes>()

/** One answer of the server. */
export interface ObservedAnswer {
  readonly method: string
  /** The path as it was registered; undefined where there is none. */
  readonly route: string | undefined
  readonly status: number
  /** From the arrival of the request to the end of the answer. */
  readonly elapsedMs: number
}

/** Has every answer of a server told, before it listens. */
export function observeAnswers(
  app: FastifyInstance,
  observe: (answer: ObservedAnswer) => void,
): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions } = request
    observe({
      method,
      route: routeOptions.url,
      status: reply.statusCode,
      elapsedMs: reply.elapsedTime,
    })
    done()
  })
  directRoutesOf.get(app)?.observe((route, elapsedMs) => {
    observe({ method: 'POST', route, status: 200, elapsedMs })
  })
}

/** Where requests have a line of the log each, all of them pass the router. */
function registerDirectRoutes(app: FastifyInstance, directRoutes: DirectRoutes): void {
  if (writesDebug(app.log)) return
  directRoutesOf.set(app, directRoutes)
  app.addHook('onRoute', ({ url, method, config }) => {
    if (method === 'POST') directRoutes.add(url, config)
  })
  app.addHook('preClose', (done) => {
    directRoutes.close()
    done()
  })
}

/** Of several only the first is kept, and a proxy may have taken another (RFC 9112 section 3.2). */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count > 1
}

function malformedHost(): AppError {
  return new AppError('invalid_parameter', 'The request has more than one `Host` header.')
}

function refuseUnmatched(request: FastifyRequest, reply: FastifyReply, paths: PathTable): AppError {
  const allowed = paths.methodsAt(request.url)
  if (allowed.length > 0) reply.header('allow', allowed.join(', '))
  return unmatchedPath(request.method, allowed)
}

const RETIRED_PREFIX = '/api/v0'

function registerRetiredPaths(app: FastifyInstance): void {
  for (const url of [RETIRED_PREFIX, `${RETIRED_PREFIX}/*`]) {
    app.all(url, { onRequest: async () => Promise.reject(versionRetired()) }, async () => undefined)
  }
}

function versionRetired(): AppError {
  return new AppError(
    'version_retired',
    'Version 0 of the API has been shut down. The current paths are listed at /openapi.json.',
  )
}

/** Answers what the router refuses. */
type AnswerUnroutable = (
  refusal: AppError,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<unknown>

const unroutableOf = new WeakMap<FastifyInstance, Map<string, AnswerUnroutable>>()

/** Has `answer` tell of addresses below a prefix that the router cannot read, which come to none of its routes. */
export function answerUnroutable(
  app: FastifyInstance,
  prefix: string,
  answer: AnswerUnroutable,
): void {
  unroutableOf.set(app, (unroutableOf.get(app) ?? new Map<string, never>()).set(prefix, answer))
}

/** Faults that the router finds before a request has a route. */
function answerFrameworkError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = toRequestError(error, request) ?? unmatchedPath(request.method, [])
  const [, answer] =
    [...(unroutableOf.get(request.server) ?? [])].find(([prefix]) =>
      request.url.startsWith(`${prefix}/`),
    ) ?? []
  if (answer === undefined) sendErrorAnswer(reply, toErrorAnswer(refusal, request.id))
  else answer(refusal, request, reply).catch((thrown: unknown) => reply.send(thrown))
}
