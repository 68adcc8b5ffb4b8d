/*
 * The authorization server as a part of the HTTP server: its paths, its limits, and what is told of its
 * failures. The protocol is authorization-server.ts's.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../platform/app-error.ts'
import type { CallerLimits } from '../../platform/http/access.ts'
import { toUnavailable } from '../../platform/db/unavailable.ts'
import { RETRY_AFTER_SECONDS_DEFAULT } from '../../platform/http/error-response.ts'
import { addressBucket } from '../../platform/rate-limits/address-bucket.ts'
import type {
  AuthorizationFailure,
  AuthorizationOperation,
  AuthorizationServer,
  ReplacedAnswer,
} from './authorization-server.ts'

export interface AuthorizationEndpoints {
  readonly server: AuthorizationServer
  /** Where each operation is answered. */
  readonly paths: Readonly<Record<AuthorizationOperation, string>>
  readonly callers: CallerLimits
}

/** Registers the operations of the authorization server. Their bodies are forms, and read by it. */
export function registerAuthorizationServer(
  app: FastifyInstance,
  { server, paths, callers }: AuthorizationEndpoints,
): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const [operation, path] of Object.entries(paths)) {
      scope.post(path, async (request, reply) => {
        reply.hijack()
        for (const [name, value] of Object.entries(reply.getHeaders())) {
          if (value !== undefined) reply.raw.setHeader(name, value)
        }
        await server.answer(
          // The keys of the table are the operations.
          operation as AuthorizationOperation,
          request.raw,
          reply.raw,
          (failure) => toAnswer(failure, request, callers),
        )
      })
    }
  })
}

async function toAnswer(
  failure: AuthorizationFailure,
  request: FastifyRequest,
  callers: CallerLimits,
): Promise<ReplacedAnswer | undefined> {
  switch (failure.kind) {
    case 'unauthenticated':
      return countFailure(request, callers)
    case 'fault':
      return toFaultAnswer(failure.error, request)
  }
}

/** As for API keys: failures count by address, and only failures are refused for it. */
async function countFailure(
  request: FastifyRequest,
  { rateLimiter, limits }: CallerLimits,
): Promise<ReplacedAnswer | undefined> {
  const decision = await rateLimiter.take(
    addressBucket(request.ip),
    limits.failedAuthenticationsPerMinute,
  )
  return decision.isAllowed ? undefined : tooManyRequests(decision.resetSeconds)
}

function toFaultAnswer(error: unknown, request: FastifyRequest): ReplacedAnswer {
  const refusal = error instanceof AppError ? error : toUnavailable(error)
  if (refusal?.kind === 'rate_limited') {
    return tooManyRequests(refusal.retryAfterSeconds ?? RETRY_AFTER_SECONDS_DEFAULT)
  }
  if (refusal?.kind === 'unavailable') {
    request.log.warn({ err: error }, 'request refused: unavailable')
    const retryAfter = refusal.retryAfterSeconds ?? RETRY_AFTER_SECONDS_DEFAULT
    return {
      status: 503,
      headers: { 'retry-after': String(retryAfter) },
      body: {
        error: 'temporarily_unavailable',
        error_description: 'The service cannot answer at the moment.',
      },
    }
  }
  request.log.error({ err: error }, 'request failed')
  const description = `An unexpected fault occurred; the request id is ${request.id}.`
  return {
    status: 500,
    headers: {},
    body: { error: 'server_error', error_description: description },
  }
}

function tooManyRequests(retryAfterSeconds: number): ReplacedAnswer {
  return {
    status: 429,
    headers: { 'retry-after': String(retryAfterSeconds) },
    body: {
      error: 'temporarily_unavailable',
      error_description: `Too many requests. Try again in ${retryAfterSeconds} s.`,
    },
  }
}
