/*
 * Provisioning by identity providers: SCIM 2.0 (RFC 7643, RFC 7644) under `/scim/v2`. Owns its paths, its
 * media type and how failures are told. What a person and a group are is decided in people/.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../platform/app-error.ts'
import { isUniqueViolation } from '../../platform/db/unique-violation.ts'
import { checkPermission, identifyCaller, type CallerOptions } from '../../platform/http/access.ts'
import { statusOfError, type ToUnavailable } from '../../platform/http/error-response.ts'
import type { Principal } from '../../platform/http/principal.ts'
import { toRequestError } from '../../platform/http/request-error.ts'
import { discoveryEndpoints } from './discovery-endpoints.ts'
import { groupEndpoints } from './group-endpoints.ts'
import { notUnique, ScimError, type ScimType } from '../../people/provisioning/scim-error.ts'
import type { ScimAnswer, ScimEndpoint } from './scim-request.ts'
import { ERROR_SCHEMA } from '../../people/provisioning/scim-schema.ts'
import { userEndpoints, type ProvisioningDependencies } from './user-endpoints.ts'

export interface ScimDependencies extends Omit<ProvisioningDependencies, 'scimUrl'> {
  /** What the world calls the service, without a slash at the end. */
  readonly baseUrl: string
  readonly callers: CallerOptions
  readonly toUnavailable?: ToUnavailable
}

const SCIM_PREFIX = '/scim/v2'
const MEDIA_TYPE = 'application/scim+json; charset=utf-8'
const CALLER = 'scimCaller'
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const RETRY_AFTER_SECONDS_DEFAULT = 5

/** Registers the SCIM surface. Its requests need an API key; those on people "Manage People". */
export function registerScim(app: FastifyInstance, deps: ScimDependencies): void {
  const scimUrl = `${deps.baseUrl}${SCIM_PREFIX}`
  const endpoints = [
    ...discoveryEndpoints(scimUrl),
    ...userEndpoints({ ...deps, scimUrl }),
    ...groupEndpoints({ ...deps, scimUrl }),
  ]
  void app.register(
    async (scope) => {
      scope.decorateRequest(CALLER, null)
      scope.setErrorHandler((error, request, reply) =>
        answerFailure(deps.toUnavailable, error, request, reply),
      )
      for (const endpoint of endpoints) registerEndpoint(scope, endpoint, deps.callers)
      refuseOtherMethods(scope, endpoints)
      refuseOtherPaths(scope)
    },
    { prefix: SCIM_PREFIX },
  )
}

function registerEndpoint(
  scope: FastifyInstance,
  endpoint: ScimEndpoint,
  callers: CallerOptions,
): void {
  scope.route({
    method: endpoint.method,
    url: endpoint.path,
    onRequest: async (request, reply) => {
      const caller = await identifyCaller({ credential: undefined }, callers, request, reply)
      checkPermission(endpoint, caller)
      request.setDecorator(CALLER, caller)
    },
    handler: async (request, reply) => {
      const answer = await endpoint.handler({
        params: request.params as Record<string, string>,
        query: request.query as Record<string, unknown>,
        body: request.body,
        headers: request.headers,
        principal: request.getDecorator<Principal>(CALLER),
        requestId: request.id,
        address: request.ip,
      })
      return send(reply, answer)
    },
  })
}

function send(reply: FastifyReply, { status, headers = {}, body }: ScimAnswer): FastifyReply {
  void reply.code(status).headers(headers)
  return body === undefined ? reply.send() : reply.type(MEDIA_TYPE).send(JSON.stringify(body))
}

function refuseOtherMethods(scope: FastifyInstance, endpoints: readonly ScimEndpoint[]): void {
  const methodsByPath = Map.groupBy(endpoints, ({ path }) => path)
  for (const [path, atPath] of methodsByPath) {
    const allowed = atPath.map(({ method }) => method)
    scope.route({
      method: METHODS.filter((method) => !allowed.includes(method)),
      url: path,
      onRequest: async (_request, reply) => {
        void reply.header('allow', allowed.join(', '))
        throw new ScimError(405, undefined, `This path answers ${allowed.join(', ')}.`)
      },
      handler: async () => undefined,
    })
  }
}

function refuseOtherPaths(scope: FastifyInstance): void {
  for (const url of ['/', '/*']) {
    scope.route({
      method: [...METHODS],
      url,
      onRequest: async () => {
        throw new ScimError(404, undefined, 'There is no SCIM resource at this path.')
      },
      handler: async () => undefined,
    })
  }
}

/** The one place where failures of this surface get their status and body; RFC 7644 section 3.12. */
function answerFailure(
  toUnavailable: ToUnavailable = () => undefined,
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const refusal = toRefusal(thrown, request, toUnavailable)
  if (refusal === undefined) request.log.error({ err: thrown }, 'request failed')
  else if (refusal.kind === 'unavailable') {
    request.log.warn({ err: thrown }, 'request refused: unavailable')
  }
  const status = refusal === undefined ? 500 : statusOf(refusal)
  const scimType = refusal === undefined ? undefined : scimTypeOf(refusal)
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  if (status === 429 || status === 503) {
    const retryAfter = refusal?.retryAfterSeconds ?? RETRY_AFTER_SECONDS_DEFAULT
    reply.header('retry-after', String(retryAfter))
  }
  const body = {
    schemas: [ERROR_SCHEMA],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
    detail: refusal?.message ?? `An unexpected fault occurred; the request id is ${request.id}.`,
  }
  return reply.code(status).type(MEDIA_TYPE).send(JSON.stringify(body))
}

function toRefusal(
  thrown: unknown,
  request: FastifyRequest,
  toUnavailable: ToUnavailable,
): AppError | undefined {
  if (thrown instanceof AppError) return thrown
  // Two clients at once: the checks before the write saw neither of them.
  if (isUniqueViolation(thrown)) return notUnique('Another resource has just taken a value.')
  return toUnavailable(thrown) ?? toRequestError(thrown, request)
}

function statusOf(error: AppError): number {
  if (error instanceof ScimError) return error.status
  return error.kind === 'invalid' ? 400 : statusOfError(error)
}

function scimTypeOf(error: AppError): ScimType | undefined {
  if (error instanceof ScimError) return error.scimType
  if (error.kind === 'invalid') return 'invalidValue'
  return error.code === 'malformed_json' ? 'invalidSyntax' : undefined
}
