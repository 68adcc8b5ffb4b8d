/*
 * The life of OAuth clients of the standard surface: made, changed, given new secrets, revoked. Secrets are
 * answered once and kept as hashes. Authenticating clients is authorization-server.ts's.
 */
import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { givenMembers } from '../../platform/given-members.ts'
import { keyThumbprints } from '../../platform/secrets/key-thumbprints.ts'
import type { ClientJwks } from '../../schema/tables/ssf-client-tables.ts'
import { setStreamStatus } from '../streams/set-stream-status.ts'
import type { StreamProfileName } from '../streams/stream-choices.ts'
import { listClientStreams } from '../streams/stream-store.ts'
import { deleteAccessTokensOf } from './access-token-store.ts'
import type { SsfScope } from './client-scopes.ts'
import { generateClientId, generateClientSecret, hashCredential } from './client-secret.ts'
import {
  countLiveClients,
  deleteClientSecrets,
  getClient,
  insertClient,
  insertClientSecret,
  limitClientSecrets,
  listLiveSecrets,
  updateClient,
  type SsfClient,
} from './client-store.ts'

/** What a new client is. */
export interface ClientDraft {
  readonly name: string
  readonly scopes: readonly SsfScope[]
  /** Null: its client id. */
  readonly audience: string | null
  /** The public keys of a client that signs assertions; null for one with a secret. */
  readonly jwks: ClientJwks | null
  /** Null: what the service is set to. */
  readonly defaultSubjects: 'ALL' | 'NONE' | null
  /** What its new streams begin with. */
  readonly profile: StreamProfileName
}

/** A client with its secret, which nobody can see again; null when it has keys of its own. */
export interface IssuedClient {
  readonly client: SsfClient
  readonly secret: string | null
}

/** Members that stay as they are are left out, or undefined. */
export type ClientPatch = {
  readonly [Member in keyof ClientDraft]?: ClientDraft[Member] | undefined
}

export const CLIENT_NAME_LENGTH_MAX = 255
export const CLIENT_AUDIENCE_LENGTH_MAX = 2_048
const CLIENTS_MAX = 1_000
/** One that is used, one that takes over, and one for a mistake. */
const SECRETS_MAX = 3

/**
 * Creates a client and leaves an audit entry.
 *
 * @throws AppError `limit_reached`
 */
export async function createSsfClient(change: Change, draft: ClientDraft): Promise<IssuedClient> {
  if ((await countLiveClients(change.tx)) >= CLIENTS_MAX) {
    const message = `There are ${CLIENTS_MAX} clients, as many as are allowed. Revoke one that is not needed.`
    throw new AppError('limit_reached', message)
  }
  const client = await insertClient(change.tx, {
    ...(draft.jwks === null ? {} : { jwks: JSON.stringify(draft.jwks) }),
    name: draft.name,
    scopes: [...new Set(draft.scopes)],
    audience: draft.audience,
    defaultSubjects: draft.defaultSubjects,
    profile: draft.profile,
    authenticationMethod: draft.jwks === null ? 'client_secret' : 'private_key_jwt',
    clientId: generateClientId(),
    createdAt: change.at,
    updatedAt: change.at,
  })
  const secret = draft.jwks === null ? await addSecret(change, client) : null
  change.recordAudit({
    action: 'ssf_client.created',
    target: { type: 'ssf_client', id: client.id },
    description: `created the Shared Signals client ${client.name}`,
    after: await toClientAudit(client),
  })
  return { client, secret }
}

/**
 * Changes what is given of a client and leaves an audit entry with the values before and after. Scopes
 * that are taken away are gone from its tokens at once. A client keeps the way it authenticates.
 *
 * @throws AppError `not_found`, `conflict` for a revoked client or one of the other kind
 */
export async function changeSsfClient(
  change: Change,
  identifier: string,
  patch: ClientPatch,
): Promise<SsfClient> {
  const before = await getUsableClient(change, identifier)
  if (patch.jwks !== undefined && (patch.jwks === null) !== (before.jwks === null)) {
    throw new AppError('conflict', 'A client keeps the way it authenticates.')
  }
  const after = await updateClient(change.tx, before.id, {
    ...givenMembers({
      ...patch,
      scopes: patch.scopes && [...new Set(patch.scopes)],
      jwks: patch.jwks ? JSON.stringify(patch.jwks) : undefined,
    }),
    updatedAt: change.at,
  })
  change.recordAudit({
    action: 'ssf_client.updated',
    target: { type: 'ssf_client', id: before.id },
    description: `changed the Shared Signals client ${after.name}`,
    before: await toClientAudit(before),
    after: await toClientAudit(after),
  })
  return after
}

/**
 * Gives a client a new secret; those before it work for `overlapSeconds` more. Leaves an audit entry.
 *
 * @throws AppError `not_found`, `conflict` for a revoked client, one with keys of its own, or one with
 *   too many secrets that still work
 */
export async function rotateClientSecret(
  change: Change,
  identifier: string,
  overlapSeconds: number,
): Promise<IssuedClient> {
  const client = await getUsableClient(change, identifier)
  if (client.authenticationMethod !== 'client_secret') {
    throw new AppError('conflict', 'The client signs with keys of its own.')
  }
  await limitClientSecrets(
    change.tx,
    client.id,
    new Date(change.at.getTime() + overlapSeconds * SECOND_MS),
  )
  const live = await listLiveSecrets(change.tx, [client.id], change.at)
  if (live.length >= SECRETS_MAX) {
    const message = `${live.length} secrets of the client still work; rotate with a shorter overlap.`
    throw new AppError('conflict', message)
  }
  const secret = await addSecret(change, client)
  change.recordAudit({
    action: 'ssf_client.secret_rotated',
    target: { type: 'ssf_client', id: client.id },
    description: `gave the Shared Signals client ${client.name} a new secret`,
    after: { overlap_seconds: overlapSeconds },
  })
  return { client, secret }
}

/**
 * Revokes a client: its secrets and tokens are refused from the next request on, in every process, and
 * its streams are disabled, which their receivers are told. Leaves audit entries; idempotent.
 *
 * @throws AppError `not_found`
 */
export async function revokeSsfClient(change: Change, identifier: string): Promise<SsfClient> {
  const before = await getClient(change.tx, identifier, { isLocked: true })
  if (before.revokedAt !== null) return before
  const after = await updateClient(change.tx, before.id, {
    revokedAt: change.at,
    updatedAt: change.at,
  })
  await deleteClientSecrets(change.tx, before.id)
  await deleteAccessTokensOf(change.tx, before.id)
  const wish = { status: 'disabled', reason: 'The client was revoked' } as const
  for (const stream of await listClientStreams(change.tx, before.id)) {
    if (stream.status !== 'disabled') await setStreamStatus(change, stream, wish)
  }
  change.recordAudit({
    action: 'ssf_client.revoked',
    target: { type: 'ssf_client', id: before.id },
    description: `revoked the Shared Signals client ${before.name}`,
    before: await toClientAudit(before),
    after: await toClientAudit(after),
  })
  return after
}

async function getUsableClient(change: Change, identifier: string): Promise<SsfClient> {
  const client = await getClient(change.tx, identifier, { isLocked: true })
  if (client.revokedAt === null) return client
  throw new AppError('conflict', `The client ${client.clientId} is revoked.`)
}

async function addSecret(change: Change, client: SsfClient): Promise<string> {
  const secret = generateClientSecret()
  await insertClientSecret(change.tx, {
    ssfClientId: client.id,
    secretHash: hashCredential(secret),
    lastFour: secret.slice(-4),
    createdAt: change.at,
    expiresAt: null,
  })
  return secret
}

/** What the audit log keeps of a client: of its keys their thumbprints. */
async function toClientAudit(client: SsfClient) {
  return {
    client_id: client.clientId,
    name: client.name,
    scopes: client.scopes,
    audience: client.audience,
    authentication_method: client.authenticationMethod,
    key_count: client.jwks?.keys.length ?? 0,
    key_thumbprints: await keyThumbprints(client.jwks),
    default_subjects: client.defaultSubjects,
    profile: client.profile,
    revoked_at: client.revokedAt?.toISOString() ?? null,
  }
}
