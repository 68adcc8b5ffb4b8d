/**
 * Puts declared routes to work in a scope of their own: access checks, JSON answers, errors and the
 * OpenAPI document hold inside it and nowhere else. Surfaces with another contract (the agent routes,
 * the console, the strict SSF face) are plugins beside it.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkAccess, type AccessOptions, type GrantedAccess } from './access.ts'
import { AppError } from '../app-error.ts'
import { resolveApiVersion } from './api-version.ts'
import { deprecationHeaders } from './deprecation.ts'
import { createErrorHandler, toErrorAnswer, type ToUnavailable } from './error-response.ts'
import type { AnswerOnce, RepeatableAnswer } from './idempotency/answer-once.ts'
import { IDEMPOTENT_REPLAYED_HEADER, readIdempotencyKey } from './idempotency/idempotency-key.ts'
import {
  GZIP_CONTENT_TYPE,
  type ApiRoute,
  type Paging,
  type RequestFacts,
  type RouteAccess,
  type RouteMethod,
} from './route.ts'
import type { TransactionCompanion } from '../db/transaction-companion.ts'
import { readTraceId } from './trace-context.ts'

export interface ApiOptions extends AccessOptions {
  readonly routes: readonly ApiRoute[]
  readonly paging: Paging
  /** Keeps the answers of writes that carry an idempotency key. */
  readonly answerOnce: AnswerOnce
  readonly toUnavailable?: ToUnavailable
}

/** One line of the permission table: what a caller needs for a method and path. */
export interface RouteTableEntry {
  readonly method: RouteMethod
  readonly path: string
  readonly permission: RouteAccess
  readonly feature: string | null
  readonly versions: readonly string[] | undefined
  readonly summary: string
}

const ACCESS = 'grantedAccess'

/** Registers the routes. Two routes with the same method and path fail the start. */
export function registerApi(app: FastifyInstance, options: ApiOptions): void {
  void app.register(async (scope) => {
    scope.decorateRequest(ACCESS, null)
    scope.setErrorHandler(createErrorHandler(options.toUnavailable))
    for (const route of options.routes) registerRoute(scope, route, options)
  })
}

/** The route table in the order of declaration, PUT aliases included. */
export function listRouteTable(routes: readonly ApiRoute[]): RouteTableEntry[] {
  return routes.flatMap((route) =>
    methodsOf(route).map((method) => ({
      method,
      path: route.path,
      permission: route.permission,
      feature: route.feature,
      versions: route.versions,
      summary: route.summary,
    })),
  )
}

/** The methods that a route answers. */
export function methodsOf(route: ApiRoute): RouteMethod[] {
  return route.putAlias ? [route.method, 'PUT'] : [route.method]
}

function registerRoute(scope: FastifyInstance, route: ApiRoute, options: ApiOptions): void {
  scope.route({
    method: methodsOf(route),
    url: route.path,
    onRequest: async (request, reply) => {
      const version = resolveApiVersion(request.headers)
      void reply.headers(deprecationHeaders(route, version, options.paging.baseUrl))
      request.setDecorator(ACCESS, await checkAccess(route, options, request, reply))
    },
    handler: async (request, reply) =>
      sendAnswer(reply, await runRoute(route, request, reply, options)),
  })
}

async function runRoute(
  route: ApiRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  options: ApiOptions,
): Promise<RepeatableAnswer> {
  const { apiVersion, principal } = request.getDecorator<GrantedAccess>(ACCESS)
  const { params, query, body } = request
  const facts: Omit<RequestFacts, 'companion'> = {
    requestId: request.id,
    apiVersion,
    address: request.ip,
    traceId: readTraceId(request.headers),
    headers: request.headers,
    path: pathOf(request.url),
    rawQuery: query as Record<string, string>,
    paging: options.paging,
    disconnection: () => disconnectionOf(reply),
  }
  const perform = (companion?: TransactionCompanion) =>
    route.run({ params, query, body }, { ...facts, companion }, principal)
  const key = isRepeatable(route) ? readIdempotencyKey(request.headers) : undefined
  if (key === undefined || principal === undefined) return perform()
  const { answer, isReplayed } = await options.answerOnce(
    {
      key,
      caller: `${principal.kind}:${principal.id}`,
      method: request.method,
      routePath: route.path,
      content: { path: facts.path, query, body, apiVersion },
      requestId: request.id,
    },
    {
      perform,
      toAnswer: (result) => route.prepare(result),
      toRefusal: (error) => toFinalRefusal(error, request.id),
    },
  )
  return isReplayed
    ? { ...answer, headers: { ...answer.headers, [IDEMPOTENT_REPLAYED_HEADER]: 'true' } }
    : answer
}

function disconnectionOf({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  if (raw.destroyed) controller.abort()
  else raw.once('close', () => controller.abort())
  return controller.signal
}

/** Whether an idempotency key means something on the route: on every write of a known caller. */
export function isRepeatable(route: ApiRoute): boolean {
  return route.method !== 'GET' && route.permission !== 'public'
}

/** Faults that pass are no answer to keep. */
function toFinalRefusal(error: unknown, requestId: string): RepeatableAnswer | undefined {
  const isFinal = error instanceof AppError && error.kind !== 'unavailable'
  return isFinal ? toErrorAnswer(error, requestId) : undefined
}

function pathOf(url: string): string {
  const path = url.split('?', 1)[0] ?? ''
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

function sendAnswer(reply: FastifyReply, answer: RepeatableAnswer): FastifyReply {
  void reply.code(answer.status).headers(answer.headers)
  if (answer.body === undefined) return reply.send()
  if (Buffer.isBuffer(answer.body)) return reply.type(GZIP_CONTENT_TYPE).send(answer.body)
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer.body))
}
