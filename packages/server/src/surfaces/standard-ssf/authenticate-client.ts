import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { AppError } from '../../platform/app-error.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { identifyCaller, type CallerOptions } from '../../platform/http/access.ts'
import { findTokenBearer, type TokenBearer } from '../../signals/clients/access-token-store.ts'
import { allowsScope, type SsfScope } from '../../signals/clients/client-scopes.ts'
import { findStreamClient } from '../../signals/clients/client-store.ts'
import { authenticatePollToken, readPollToken } from '../../signals/poll/authenticate-poll-token.ts'
import { insufficientScope, invalidToken, noToken, tokenInQuery } from './bearer-refusal.ts'

/** Whom a request of the strict face acts for. */
export type StrictCaller = Omit<TokenBearer, 'payload'>

export interface ClientAuthentication {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly callers: CallerOptions
}

/** RFC 6750 section 2.1; the scheme in any case (RFC 9110 section 11.1). */
const BEARER = /^Bearer(?: +(.*?))? *$/i
/** One word, too long for the name of a scheme. */
const BARE_TOKEN = /^[\w.~+/=-]{20,4096}$/
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
    hintAtBareToken(request)
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

/**
 * The same for the polls of one stream, which take its poll tokens too: whoever has one acts for the client
 * of the stream, as long as the client is live, and there only.
 *
 * @throws BearerRefusal, AppError `rate_limited`
 */
export async function authenticatePoller(
  request: FastifyRequest,
  reply: FastifyReply,
  scope: SsfScope,
  authentication: ClientAuthentication,
): Promise<StrictCaller> {
  const token = readPollToken(request.headers)
  if (token === undefined) return authenticateClient(request, reply, scope, authentication)
  const { db, callers } = authentication
  const { stream_id: streamId = '' } = request.params as Record<string, string>
  let caller: StrictCaller | undefined
  const credential = async () => {
    const principal = await authenticatePollToken(authentication, token, streamId).catch(
      (error: unknown) => {
        throw error instanceof AppError ? invalidToken() : error
      },
    )
    const client = await findStreamClient(db, streamId)
    if (client === undefined) throw invalidToken()
    caller = { ...client, scopes: [scope] }
    return principal
  }
  await identifyCaller({ credential }, callers, request, reply)
  if (caller === undefined) throw invalidToken()
  return caller
}

function hasTokenInQuery({ query }: FastifyRequest): boolean {
  return typeof query === 'object' && query !== null && 'access_token' in query
}

/** Some receivers never look at the status of an answer: only the log can tell what they do wrong. */
function hintAtBareToken({ headers, log }: FastifyRequest): void {
  if (!BARE_TOKEN.test(headers.authorization ?? '')) return
  log.info('an access token came without the word Bearer before it and was refused')
}

function readToken({ headers }: FastifyRequest): string {
  const match = BEARER.exec(headers.authorization ?? '')
  const token = match?.[1]
  if (token === undefined || token === '') throw noToken()
  if (!TOKEN.test(token)) throw invalidToken()
  return token
}
