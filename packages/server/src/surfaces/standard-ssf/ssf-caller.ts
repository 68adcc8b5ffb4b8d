/*
 * Who calls the standard surface: clients of the authorization server with their access tokens, and, at the
 * polls of one stream, whoever has a poll token of it.
 */
import type { Foundation } from '../../changes/foundation.ts'
import { AppError } from '../../platform/app-error.ts'
import type { AccessCheck } from '../../platform/http/access.ts'
import type { Caller, Credential, CredentialRequest } from '../../platform/http/operation.ts'
import { findTokenBearer } from '../../signals/clients/access-token-store.ts'
import { allowsScope } from '../../signals/clients/client-scopes.ts'
import {
  getClientStream,
  isStreamId,
  parseStreamId,
  type Stream,
} from '../../signals/streams/stream-store.ts'
import { findStreamClient } from '../../signals/clients/client-store.ts'
import { authenticatePollToken, readPollToken } from '../../signals/poll/authenticate-poll-token.ts'
import { insufficientScope, invalidToken, noToken, tokenInQuery } from './bearer-refusal.ts'

/** The caller of a request, with the client that it acts for. */
export interface SsfCaller extends Caller {
  readonly scopes: readonly string[]
  readonly client: SsfCallerClient
}

export interface SsfCallerClient {
  /** The record id. */
  readonly id: string
  readonly clientId: string
  readonly name: string
}

export type CallerDependencies = Pick<Foundation, 'db' | 'clock'>

/** RFC 6750 section 2.1; the scheme in any case (RFC 9110 section 11.1). */
const BEARER = /^Bearer(?: +(.*?))? *$/i
/** One word, too long for the name of a scheme. */
const BARE_TOKEN = /^[\w.~+/=-]{20,4096}$/
const TOKEN = /^[\w.~+/=-]{1,4096}$/

/**
 * The access token of a client. Everything is looked up anew: what was revoked in one process is refused by
 * all. Refuses with BearerRefusal: 401 without a token or with a bad one, 400 for one in the query.
 */
export function accessTokenCredential({ db, clock }: CallerDependencies): Credential<SsfCaller> {
  return {
    kind: 'token',
    find: async (request) => {
      if ('access_token' in request.query) throw tokenInQuery()
      hintAtBareToken(request)
      const client = await findTokenBearer(db, readToken(request), clock.now())
      if (client === undefined) throw invalidToken()
      const { clientId, name, scopes } = client
      return { kind: 'ssf_client', id: clientId, name, permissions: new Set(), scopes, client }
    },
  }
}

/**
 * A poll token of the stream that the path names: whoever has one acts for the client of the stream, as
 * long as the client is live, and there only.
 */
export function pollTokenCredential(dependencies: CallerDependencies): Credential<SsfCaller> {
  return {
    kind: 'token',
    find: async ({ headers, params, access }) => {
      const token = readPollToken(headers)
      if (token === undefined) return undefined
      const { stream_id: streamId = '' } = params
      const principal = await authenticatePollToken(dependencies, token, streamId).catch(
        (error: unknown) => {
          throw error instanceof AppError ? invalidToken() : error
        },
      )
      const client = isStreamId(streamId)
        ? await findStreamClient(dependencies.db, streamId)
        : undefined
      if (client === undefined) throw invalidToken()
      const scopes = access !== 'public' && 'scope' in access ? [access.scope] : []
      return { ...principal, scopes, client }
    },
  }
}

/** Refuses a token that is good, but not for the operation. */
export const checkScope: AccessCheck<SsfCaller> = ({ access }, { caller }) => {
  if (access === 'public' || !('scope' in access) || caller === undefined) return
  if (!allowsScope(caller.scopes, access.scope)) throw insufficientScope(access.scope)
}

/**
 * A stream of the calling client by its `stream_id`.
 *
 * @throws AppError `not_found`
 */
export async function getOwnStream(
  db: Foundation['db'],
  { client }: Pick<SsfCaller, 'client'>,
  streamId: string,
  options: { readonly isLocked?: boolean } = {},
): Promise<Stream> {
  return getClientStream(db, client.id, parseStreamId(streamId), options)
}

/** Some receivers never look at the status of an answer: only the log can tell what they do wrong. */
function hintAtBareToken({ headers, log }: CredentialRequest): void {
  if (!BARE_TOKEN.test(headers.authorization ?? '')) return
  log.info('an access token came without the word Bearer before it and was refused')
}

function readToken({ headers }: CredentialRequest): string {
  const match = BEARER.exec(headers.authorization ?? '')
  const token = match?.[1]
  if (token === undefined || token === '') throw noToken()
  if (!TOKEN.test(token)) throw invalidToken()
  return token
}
