/*
 * Shared Signals as the standards have it, for receivers that know nothing of this service but its
 * issuer `{base_url}/ssf`: discovery, OAuth access tokens, streams, status, subjects, verification, poll.
 * Owns its paths, access, errors and documents; streams themselves are those of streams/.
 */
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../platform/app-error.ts'
import type { AccessCheck, CallerLimits } from '../../platform/http/access.ts'
import { toErrorAnswer, type ErrorAnswer } from '../../platform/http/error-response.ts'
import { rateLimited } from '../../platform/http/rate-limit.ts'
import { callerBucket } from '../../platform/rate-limits/rate-limiter.ts'
import { registerSurface } from '../../platform/http/surface.ts'
import { unmatchedPath } from '../../platform/http/unmatched-path.ts'
import { createAuthorizationServer } from '../../signals/clients/authorization-server.ts'
import { registerAuthorizationServer } from '../../signals/clients/authorization-server-routes.ts'
import { BearerRefusal, toChallenge } from './bearer-refusal.ts'
import { deliveryEndpoints } from './delivery-endpoints.ts'
import { discoveryDocuments } from './discovery-documents.ts'
import { pollEndpoint } from './poll-endpoint.ts'
import { accessTokenCredential, checkScope, type SsfCaller } from './ssf-caller.ts'
import { createStandardSurface } from './standard-surface.ts'
import { createEndpoint, readEndpoint } from './stream-endpoints.ts'
import type { SsfDocument, SsfOperation } from './ssf-operation.ts'
import { buildStandardOpenApi } from './standard-openapi.ts'
import type { StreamContext } from '../../signals/streams/stream-context.ts'
import { streamOperations } from '../../signals/streams/stream-endpoints.ts'
import { toSurfaceUrls, type SurfaceUrls } from '../../signals/streams/surface-urls.ts'
import { subjectEndpoints } from './subject-endpoints.ts'

export interface StandardSurfaceContext extends StreamContext {
  readonly limits: CallerLimits
  /** Whether the organisation has Shared Signals switched on. */
  readonly isEnabled: () => Promise<boolean>
}

const DISCOVERY_CACHE_CONTROL = 'public, max-age=300'

/** Registers the standard surface. */
export function registerStandardSsf(app: FastifyInstance, context: StandardSurfaceContext): void {
  const urls = toSurfaceUrls(context.baseUrl)
  const operations = listOperations(context)
  registerSurface(app, {
    prefix: '',
    operations,
    callers: { ...context.limits, credentials: [accessTokenCredential(context)] },
    checks: [checkScope, createEnabledCheck(context.isEnabled)],
    errors: { toAnswer: (refusal, requestId) => toSsfAnswer(refusal, requestId, urls) },
    mediaType: 'application/json',
    unanswered: { toMethodRefusal: unmatchedPath },
    addOthers: (scope) => {
      for (const document of listDocuments(context, urls, operations)) addDocument(scope, document)
      addAuthorizationServer(scope, urls, context)
    },
  })
}

function listOperations(context: StreamContext): SsfOperation[] {
  const surface = createStandardSurface(context)
  const operations = streamOperations(surface, context)
  return [
    createEndpoint(context),
    readEndpoint(surface, context),
    operations.delete,
    operations.update,
    operations.replace,
    operations.showStatus,
    operations.setStatus,
    ...subjectEndpoints(surface, context),
    operations.verify,
    pollEndpoint(context),
    operations.showHealth,
    operations.selfTest,
    operations.showSelfTest,
    operations.showState,
    operations.replay,
    ...deliveryEndpoints(surface, context),
  ]
}

function listDocuments(
  { baseUrl, settings }: StreamContext,
  urls: SurfaceUrls,
  operations: readonly SsfOperation[],
): ServedDocument[] {
  const documents = discoveryDocuments(baseUrl, urls, settings)
  return [
    ...documents.map(({ path, content }) => ({ path, toContent: () => content })),
    {
      path: '/ssf/openapi.json',
      toContent: () => buildStandardOpenApi({ baseUrl, urls, operations, documents }),
    },
  ]
}

/** A document that is built for its first reader. */
interface ServedDocument extends Pick<SsfDocument, 'path'> {
  readonly toContent: () => object
}

/** Credentials that come along are not looked at, also bad ones. */
function addDocument(scope: FastifyInstance, { path, toContent }: ServedDocument): void {
  let text: string | undefined
  scope.get(path, async (_request, reply) => {
    text ??= JSON.stringify(toContent())
    return reply
      .header('cache-control', DISCOVERY_CACHE_CONTROL)
      .type('application/json')
      .send(text)
  })
}

function addAuthorizationServer(
  scope: FastifyInstance,
  urls: SurfaceUrls,
  { db, clock, limits }: StandardSurfaceContext,
): void {
  registerAuthorizationServer(scope, {
    server: createAuthorizationServer({
      db,
      clock,
      urls,
      countTokenRequest: (clientId) => countTokenRequest(clientId, limits),
    }),
    paths: {
      token: '/ssf/token',
      revocation: '/ssf/token/revocation',
      introspection: '/ssf/token/introspection',
    },
    callers: limits,
  })
}

function createEnabledCheck(isEnabled: () => Promise<boolean>): AccessCheck<SsfCaller> {
  return async () => {
    if (await isEnabled()) return
    const message = 'The organisation has switched Shared Signals off.'
    throw new AppError('permission_missing', message)
  }
}

async function countTokenRequest(
  clientId: string,
  { rateLimiter, limits }: CallerLimits,
): Promise<void> {
  const decision = await rateLimiter.take(
    callerBucket('ssf_client_token', clientId),
    limits.requestsPerMinute,
  )
  if (!decision.isAllowed) throw rateLimited(decision)
}

/** Failures with their challenge, and one status for bodies that are wrong, whatever is wrong about them. */
function toSsfAnswer(
  refusal: AppError | undefined,
  requestId: string,
  urls: SurfaceUrls,
): ErrorAnswer {
  const answer = toErrorAnswer(
    refusal?.kind === 'invalid' ? toMalformed(refusal) : refusal,
    requestId,
  )
  if (!(refusal instanceof BearerRefusal)) return answer
  const challenge = toChallenge(refusal.challenge, urls)
  return { ...answer, headers: { ...answer.headers, 'www-authenticate': challenge } }
}

/** The standards know 400 only. */
function toMalformed({ code, message, details }: AppError): AppError {
  return new AppError(code, message, {
    kind: 'malformed',
    ...(details === undefined ? {} : { details }),
  })
}
