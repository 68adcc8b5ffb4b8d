import type { FastifyReply, FastifyRequest } from 'fastify'
import { newRequestId } from '../ids.ts'

const ONE_YEAR_SECONDS = 31_536_000

/**
 * The headers that every answer of the service carries, from one place. A route that serves something
 * cacheable or a page overrides `cache-control` or adds a policy of its own.
 *
 * `isHttps` says whether the world reaches the service by HTTPS: only then may browsers be told to
 * insist on it.
 */
export function createResponseHeaders(
  isHttps: boolean,
): (request: FastifyRequest, reply: FastifyReply) => void {
  const constant = toConstantHeaders(isHttps)
  return (request, reply) => {
    void reply.headers(constant).header('request-id', request.id)
  }
}

/** The same of answers in JSON that pass no router, as names and values in turn. */
export function createDirectHeaders(isHttps: boolean): (contentLength: number) => string[] {
  const constant = Object.entries(toConstantHeaders(isHttps)).flat()
  return (contentLength) => [
    ...constant,
    'request-id',
    newRequestId(),
    'content-type',
    'application/json; charset=utf-8',
    'content-length',
    String(contentLength),
  ]
}

function toConstantHeaders(isHttps: boolean): Readonly<Record<string, string>> {
  return {
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    ...(isHttps ? { 'strict-transport-security': `max-age=${ONE_YEAR_SECONDS}` } : {}),
  }
}
