/**
 * Puts declared routes to work in a scope of their own: access checks, JSON answers, errors and the
 * OpenAPI document hold inside it and nowhere else. Surfaces with another contract (the agent routes,
 * the console, the strict SSF face) are plugins beside it.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkAccess, type AccessOptions, type GrantedAccess } from './access.ts'
import { createErrorHandler, type ToUnavailable } from './error-response.ts'
import type { ApiRoute, Paging, PreparedAnswer, RouteAccess, RouteMethod } from './route.ts'
import { readTraceId } from './trace-context.ts'

export interface ApiOptions extends AccessOptions {
  readonly routes: readonly ApiRoute[]
  readonly paging: Paging
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
      request.setDecorator(ACCESS, await checkAccess(route, options, request, reply))
    },
    handler: async (request, reply) =>
      sendAnswer(reply, await runRoute(route, request, options.paging)),
  })
}

async function runRoute(
  route: ApiRoute,
  request: FastifyRequest,
  paging: Paging,
): Promise<PreparedAnswer> {
  const { apiVersion, principal } = request.getDecorator<GrantedAccess>(ACCESS)
  return route.run(
    { params: request.params, query: request.query, body: request.body },
    {
      requestId: request.id,
      apiVersion,
      address: request.ip,
      traceId: readTraceId(request.headers),
      headers: request.headers,
      path: pathOf(request.url),
      rawQuery: request.query as Record<string, string>,
      paging,
    },
    principal,
  )
}

function pathOf(url: string): string {
  const path = url.split('?', 1)[0] ?? ''
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

function sendAnswer(reply: FastifyReply, prepared: PreparedAnswer): FastifyReply {
  void reply.code(prepared.status).headers(prepared.headers)
  if (prepared.body === undefined) return reply.send()
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(prepared.body))
}
