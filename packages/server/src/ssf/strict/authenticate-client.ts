import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import type { Schema } from '../../platform/db/schema.ts'
import { identifyCaller, type CallerOptions } from '../../platform/http/access.ts'
import { findTokenBearer, type TokenBearer } from '../clients/access-token-store.ts'
import { allowsScope, type SsfScope } from '../clients/client-scopes.ts'
import { insufficientScope, invalidToken, noToken, tokenInQuery } from './bearer-refusal.ts'

export interface ClientAuthentication {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly callers: CallerOptions
}

/** RFC 6750 section 2.1; the scheme in any case (RFC 9110 section 11.1). */
const BEARER = /^Bearer(?: +(.*?))? *$/i
const TOKEN = /^[\w.~+/=-]{1,4096}$/

/**
 * Finds the client behind the access token of a request, counts the request against its rate limit and
 * makes sure that the token is good for it. Everything is looked up anew: what was revoked in one
 * process is refused by all.
 *
 * @throws BearerRefusal 401 without a token or with a bad one, 400 for one in the query, 403 for one
 *   without the scope; AppError `rate_limited`
 */
export async function authenticateClient(
  request: FastifyRequest,
  reply: FastifyReply,
  scope: SsfScope,
  { db, clock, callers }: ClientAuthentication,
): Promise<TokenBearer> {
  let bearer: TokenBearer | undefined
  const credential = async () => {
    if (hasTokenInQuery(request)) throw tokenInQuery()
    const found = await findTokenBearer(db, readToken(request), clock.now())
    if (found === undefined) throw invalidToken()
    bearer = found
    return {
      kind: 'ssf_client' as const,
      id: found.clientId,
      name: found.name,
      permissions: new Set<never>(),
    }
  }
  await identifyCaller({ credential }, callers, request, reply)
  if (bearer === undefined) throw invalidToken()
  if (!allowsScope(bearer.scopes, scope)) throw insufficientScope(scope)
  return bearer
}

function hasTokenInQuery({ query }: FastifyRequest): boolean {
  return typeof query === 'object' && query !== null && 'access_token' in query
}

function readToken({ headers }: FastifyRequest): string {
  const match = BEARER.exec(headers.authorization ?? '')
  const token = match?.[1]
  if (token === undefined || token === '') throw noToken()
  if (!TOKEN.test(token)) throw invalidToken()
  return token
}
