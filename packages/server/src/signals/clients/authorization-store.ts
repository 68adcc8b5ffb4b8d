/*
 * What the authorization server remembers, in the database for every process: clients, access tokens
 * and used assertions, in the form that its library asks for. There is nothing else that it may store.
 */
import { errors, type Adapter, type AdapterPayload } from 'oidc-provider'
import type { Foundation } from '../../changes/foundation.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import {
  deleteAccessToken,
  findAssertion,
  findTokenBearer,
  insertAccessToken,
  insertAssertion,
  type TokenPayload,
} from './access-token-store.ts'
import { findLiveClient, type ClientWithSecrets } from './client-store.ts'

export type AuthorizationStoreDependencies = Pick<Foundation, 'db' | 'clock'>

/** The hashes of the secrets of a client, in hexadecimal: metadata of our own. */
export const SECRET_HASHES = 'secret_hashes'

/** The algorithm of a key that no token is signed with; the library wants one named per client. */
export const UNUSED_SIGNING_ALGORITHM = 'Ed25519'

/** The store of one kind of record of the library. */
export function createAuthorizationStore(
  kind: string,
  dependencies: AuthorizationStoreDependencies,
): Adapter {
  switch (kind) {
    case 'Client':
      return { ...nothing(kind), find: (id) => findClient(id, dependencies) }
    case 'ClientCredentials':
      return { ...nothing(kind), ...tokens(dependencies) }
    case 'ReplayDetection':
      return { ...nothing(kind), ...assertions(dependencies) }
    default:
      return nothing(kind)
  }
}

/** Refuses to keep anything: a use that nobody thought of would otherwise be lost without a word. */
function nothing(kind: string): Adapter {
  const refuse = async () => Promise.reject(new Error(`${kind} records are not stored`))
  return {
    upsert: refuse,
    consume: refuse,
    destroy: refuse,
    revokeByGrantId: refuse,
    find: async () => undefined,
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
  }
}

async function findClient(
  clientId: string,
  { db, clock }: AuthorizationStoreDependencies,
): Promise<AdapterPayload | undefined> {
  const client = isStorable(clientId) ? await findLiveClient(db, clientId, clock.now()) : undefined
  return client && toMetadata(client)
}

/**
 * The secret that the library is told is the name of the client, which nobody can authenticate with:
 * secrets are compared by their hashes (authorization-server.ts).
 */
function toMetadata(client: ClientWithSecrets): AdapterPayload {
  const hasKeys = client.authenticationMethod === 'private_key_jwt'
  return {
    client_id: client.clientId,
    client_name: client.name,
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
    scope: client.scopes.join(' '),
    id_token_signed_response_alg: UNUSED_SIGNING_ALGORITHM,
    ...(hasKeys
      ? { token_endpoint_auth_method: 'private_key_jwt', jwks: client.jwks }
      : { token_endpoint_auth_method: 'client_secret_basic', client_secret: client.clientId }),
    [SECRET_HASHES]: client.secrets.map(({ secretHash }) => secretHash.toString('hex')),
  } as AdapterPayload
}

function tokens({ db, clock }: AuthorizationStoreDependencies): Partial<Adapter> {
  return {
    upsert: async (token, payload, expiresIn = 0) => {
      const kept = Object.fromEntries(Object.entries(payload).filter(([name]) => name !== 'jti'))
      const issuedAt = clock.now()
      const isKept = await insertAccessToken(db, token, {
        clientId: payload.clientId ?? '',
        scopes: payload.scope?.split(' ') ?? [],
        payload: kept,
        issuedAt,
        expiresAt: new Date(issuedAt.getTime() + expiresIn * SECOND_MS),
      })
      if (!isKept) throw new errors.InvalidClientAuth('the client has just been revoked')
    },
    find: async (token) => {
      const bearer = isStorable(token) ? await findTokenBearer(db, token, clock.now()) : undefined
      return bearer && toPayload(bearer.payload, token, bearer.scopes)
    },
    destroy: (token) => deleteAccessToken(db, token),
  }
}

function toPayload(payload: TokenPayload, jti: string, scopes: readonly string[]): AdapterPayload {
  return { ...payload, jti, scope: scopes.join(' ') }
}

function assertions({ db, clock }: AuthorizationStoreDependencies): Partial<Adapter> {
  return {
    upsert: async (id, payload, expiresIn = 0) => {
      const expiresAt = new Date(clock.now().getTime() + expiresIn * SECOND_MS)
      const isFirst = await insertAssertion(db, id, { ...payload }, expiresAt)
      // Two requests at once: the library has found neither when it looked.
      if (!isFirst) throw new errors.InvalidClientAuth('client assertions must be used once')
    },
    find: async (id) => await findAssertion(db, id),
  }
}

/** Texts that the database cannot hold name nothing in it. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
