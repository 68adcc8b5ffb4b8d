/*
 * Shared Signals as the standards have it, for receivers that know nothing of this service but its
 * issuer `{base_url}/ssf`: discovery, OAuth access tokens, streams, status, subjects, verification, poll.
 * Owns its paths, access, errors and documents; streams themselves are those of streams/.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../platform/app-error.ts'
import type { CallerOptions } from '../../platform/http/access.ts'
import {
  internalErrorAnswer,
  sendErrorAnswer,
  toErrorAnswer,
  type ToUnavailable,
} from '../../platform/http/error-response.ts'
import { callerBucket, rateLimited } from '../../platform/http/rate-limit.ts'
import { toRequestError } from '../../platform/http/request-error.ts'
import { createAuthorizationServer } from '../../signals/clients/authorization-server.ts'
import { registerAuthorizationServer } from '../../signals/clients/register-authorization-server.ts'
import { authenticateClient, authenticatePoller, type StrictCaller } from './authenticate-client.ts'
import { BearerRefusal, toChallenge } from './bearer-refusal.ts'
import { discoveryDocuments } from './discovery-documents.ts'
import { pollEndpoint, type PollEndpointDependencies } from './poll-endpoint.ts'
import { statusEndpoints } from './status-endpoints.ts'
import { streamEndpoints, type StreamEndpointDependencies } from './stream-endpoints.ts'
import type { StrictAnswer, StrictDocument, StrictEndpoint } from './strict-endpoint.ts'
import { buildStrictOpenApi } from './strict-openapi.ts'
import { toStrictUrls, type StrictUrls } from './strict-urls.ts'
import { subjectEndpoints } from './subject-endpoints.ts'
import { verificationEndpoint } from './verification-endpoint.ts'

export interface StrictFaceDependencies
  extends Omit<StreamEndpointDependencies, 'urls'>, Omit<PollEndpointDependencies, 'settings'> {
  readonly callers: CallerOptions
  /** Whether the organisation has Shared Signals switched on. */
  readonly isEnabled: () => Promise<boolean>
  readonly toUnavailable?: ToUnavailable
  /** Operations beyond the standards. */
  readonly extensions?: readonly StrictEndpoint[]
}

const CLIENT = 'ssfClient'
const DISCOVERY_CACHE_CONTROL = 'public, max-age=300'
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const RETRY_AFTER_SECONDS_DEFAULT = 5

/** Registers the strict face. */
export function registerStrictFace(app: FastifyInstance, deps: StrictFaceDependencies): void {
  const urls = toStrictUrls(deps.baseUrl)
  const dependencies = { ...deps, urls }
  const endpoints = listEndpoints(dependencies)
  const documents = listDocuments(dependencies, endpoints)
  void app.register(async (scope) => {
    scope.decorateRequest(CLIENT, null)
    scope.setErrorHandler((error, request, reply) =>
      answerFailure(dependencies, error, request, reply),
    )
    for (const document of documents) registerDocument(scope, document)
    for (const endpoint of endpoints) registerEndpoint(scope, endpoint, dependencies)
    refuseOtherMethods(scope, endpoints)
    registerAuthorizationServer(scope, {
      server: createAuthorizationServer({
        db: deps.db,
        clock: deps.clock,
        urls,
        countTokenRequest: (clientId) => countTokenRequest(clientId, deps.callers),
      }),
      paths: {
        token: '/ssf/token',
        revocation: '/ssf/token/revocation',
        introspection: '/ssf/token/introspection',
      },
      callers: deps.callers,
      toUnavailable: deps.toUnavailable,
    })
  })
}

type Dependencies = StrictFaceDependencies & { readonly urls: StrictUrls }

function listEndpoints(dependencies: Dependencies): StrictEndpoint[] {
  return [
    ...streamEndpoints(dependencies),
    ...statusEndpoints(dependencies),
    ...subjectEndpoints(dependencies),
    verificationEndpoint(dependencies),
    pollEndpoint(dependencies),
    ...(dependencies.extensions ?? []),
  ]
}

function listDocuments(
  { baseUrl, settings, urls }: Dependencies,
  endpoints: readonly StrictEndpoint[],
): (Pick<StrictDocument, 'path' | 'content'> & { readonly isFixed: boolean })[] {
  const discovery = discoveryDocuments(baseUrl, urls, settings)
  const openApi = buildStrictOpenApi({ baseUrl, urls, endpoints, documents: discovery })
  return [
    ...discovery.map(({ path, content }) => ({ path, content, isFixed: true })),
    { path: '/ssf/openapi.json', content: openApi, isFixed: true },
  ]
}

/** Credentials that come along are not looked at, also bad ones. */
function registerDocument(
  scope: FastifyInstance,
  { path, content }: Pick<StrictDocument, 'path' | 'content'>,
): void {
  const text = JSON.stringify(content)
  scope.get(path, async (_request, reply) =>
    reply.header('cache-control', DISCOVERY_CACHE_CONTROL).type('application/json').send(text),
  )
}

function registerEndpoint(
  scope: FastifyInstance,
  endpoint: StrictEndpoint,
  dependencies: Dependencies,
): void {
  scope.route({
    method: endpoint.method,
    url: toRouterPath(endpoint.path),
    exposeHeadRoute: false,
    onRequest: async (request, reply) => {
      const authenticate =
        endpoint.takesPollTokens === true ? authenticatePoller : authenticateClient
      const client = await authenticate(request, reply, endpoint.scope, dependencies)
      await assertEnabled(dependencies)
      request.setDecorator(CLIENT, client)
    },
    handler: async (request, reply) =>
      send(
        reply,
        await endpoint.handler({
          client: request.getDecorator<StrictCaller>(CLIENT),
          origin: toOrigin(request),
          params: request.params as Record<string, string>,
          query: request.query as Record<string, unknown>,
          body: request.body,
          address: request.ip,
          disconnection: () => disconnectionOf(reply),
        }),
      ),
  })
}

/** `{name}` is a parameter there, and a colon that is none is doubled. */
function toRouterPath(path: string): string {
  return path.replaceAll(':', '::').replace(/\{(\w+)\}/g, ':$1')
}

async function assertEnabled({ isEnabled }: Dependencies): Promise<void> {
  if (await isEnabled()) return
  const message = 'The organisation has switched Shared Signals off.'
  throw new AppError('forbidden', 'feature_disabled', message)
}

function toOrigin(request: FastifyRequest) {
  const { clientId, name } = request.getDecorator<StrictCaller>(CLIENT)
  return {
    actor: { type: 'ApiKey' as const, id: clientId, name, email: null },
    requestId: request.id,
    ipAddress: request.ip,
  }
}

function disconnectionOf({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  if (raw.destroyed) controller.abort()
  else raw.once('close', () => controller.abort())
  return controller.signal
}

function send(reply: FastifyReply, { status, headers = {}, body }: StrictAnswer): FastifyReply {
  void reply.code(status).headers(headers)
  return body === undefined
    ? reply.send()
    : reply.type('application/json').send(JSON.stringify(body))
}

function refuseOtherMethods(scope: FastifyInstance, endpoints: readonly StrictEndpoint[]): void {
  for (const [path, atPath] of Map.groupBy(endpoints, ({ path }) => path)) {
    const allowed = atPath.map(({ method }) => method)
    scope.route({
      method: METHODS.filter((method) => !allowed.includes(method)),
      url: toRouterPath(path),
      exposeHeadRoute: false,
      onRequest: async (request, reply) => {
        void reply.header('allow', allowed.join(', '))
        const message = `${request.method} is not answered at this path. Allowed: ${allowed.join(', ')}.`
        throw new AppError('malformed', 'method_not_allowed', message)
      },
      handler: async () => undefined,
    })
  }
}

async function countTokenRequest(
  clientId: string,
  { rateLimiter, limits }: CallerOptions,
): Promise<void> {
  const decision = await rateLimiter.take(
    callerBucket('ssf_client_token', clientId),
    limits.requestsPerMinute,
  )
  if (!decision.isAllowed) throw rateLimited(decision)
}

/** The one place where failures of this face get their status, body and challenge. */
function answerFailure(
  { toUnavailable = () => undefined, urls }: Dependencies,
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const refusal =
    thrown instanceof AppError ? thrown : (toUnavailable(thrown) ?? toRequestError(thrown, request))
  if (refusal === undefined) {
    request.log.error({ err: thrown }, 'request failed')
    return sendErrorAnswer(reply, internalErrorAnswer(request.id))
  }
  if (refusal.kind === 'unavailable') {
    request.log.warn({ err: thrown }, 'request refused: unavailable')
  }
  const answer = toErrorAnswer(toStrictRefusal(refusal), request.id)
  const challenge =
    refusal instanceof BearerRefusal
      ? { 'www-authenticate': toChallenge(refusal.challenge, urls) }
      : {}
  return sendErrorAnswer(reply, { ...answer, headers: { ...answer.headers, ...challenge } })
}

/** The standards know one status for bodies that are wrong, whatever is wrong about them. */
function toStrictRefusal(refusal: AppError): AppError {
  if (refusal.kind === 'rate_limited' && refusal.retryAfterSeconds === undefined) {
    return new AppError(refusal.kind, refusal.code, refusal.message, {
      retryAfterSeconds: RETRY_AFTER_SECONDS_DEFAULT,
    })
  }
  if (refusal.kind !== 'invalid' && refusal.code !== 'feature_disabled') return refusal
  const code = refusal.code === 'feature_disabled' ? 'permission_missing' : refusal.code
  const kind = refusal.kind === 'invalid' ? 'malformed' : refusal.kind
  const { details } = refusal
  return new AppError(kind, code, refusal.message, details === undefined ? {} : { details })
}
