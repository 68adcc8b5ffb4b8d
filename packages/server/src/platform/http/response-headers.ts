import type { FastifyReply, FastifyRequest } from 'fastify'

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
  const constant: Readonly<Record<string, string>> = {
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    ...(isHttps ? { 'strict-transport-security': `max-age=${ONE_YEAR_SECONDS}` } : {}),
  }
  return (request, reply) => {
    void reply.headers(constant).header('request-id', request.id)
  }
}
