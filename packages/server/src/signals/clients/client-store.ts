import type { StreamId } from '../../schema/branded-ids.ts'
import { sql, type Kysely } from 'kysely'
import type { FindOptions } from '../../platform/db/record-table.ts'
import { readPage, type PageWindow } from '../../platform/db/page.ts'
import { isId } from '../../platform/ids.ts'
import {
  defineTable,
  type RecordOf,
  type NewRecord,
  type RecordChanges,
} from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'
import { notFound } from '../../platform/app-error.ts'

const clientTable = defineTable('ssf_client')
const secretTable = defineTable('ssf_client_secret')

export type SsfClient = RecordOf<typeof clientTable>
export type SsfClientSecret = RecordOf<typeof secretTable>

/** A client with the secrets that it may still use. */
export interface ClientWithSecrets extends SsfClient {
  readonly secrets: readonly SsfClientSecret[]
}

/**
 * A client by its `id` or its `client_id`.
 *
 * @throws AppError `not_found`
 */
export async function getClient(
  db: Kysely<Schema>,
  identifier: string,
  options?: FindOptions,
): Promise<SsfClient> {
  const key = isId(identifier) ? { id: identifier } : { clientId: identifier }
  const client = await clientTable.find(db, key, options)
  if (client === undefined) throw notFound('client', identifier)
  return client
}

/** The client that an authentication names; undefined when it is unknown or revoked. */
export async function findLiveClient(
  db: Kysely<Schema>,
  clientId: string,
  now: Date,
): Promise<ClientWithSecrets | undefined> {
  const client = await clientTable.find(db, { clientId, revokedAt: null })
  return client && { ...client, secrets: await listLiveSecrets(db, [client.id], now) }
}

/** A page of the clients, revoked ones included, oldest first. */
export async function listClients(
  db: Kysely<Schema>,
  window: PageWindow,
  now: Date,
): Promise<ClientWithSecrets[]> {
  const clients = await readPage(db.selectFrom('ssf_client').selectAll(), 'id', window)
  const ids = clients.map(({ id }) => id)
  const secretsById = Map.groupBy(
    await listLiveSecrets(db, ids, now),
    ({ ssfClientId }) => ssfClientId,
  )
  return clients.map((client) => ({
    ...clientTable.fromRow(client),
    secrets: secretsById.get(client.id) ?? [],
  }))
}

/** The secrets of clients that have not ended, oldest first. */
export async function listLiveSecrets(
  db: Kysely<Schema>,
  clientIds: readonly string[],
  now: Date,
): Promise<SsfClientSecret[]> {
  if (clientIds.length === 0) return []
  const rows = await db
    .selectFrom('ssf_client_secret')
    .selectAll()
    .where('ssf_client_id', 'in', clientIds)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .orderBy('id')
    .execute()
  return rows.map(secretTable.fromRow)
}

export async function insertClient(
  db: Kysely<Schema>,
  client: NewRecord<'ssf_client'>,
): Promise<SsfClient> {
  return clientTable.insert(db, client)
}

export async function updateClient(
  db: Kysely<Schema>,
  id: string,
  changes: RecordChanges<'ssf_client'>,
): Promise<SsfClient> {
  return clientTable.update(db, { id }, changes)
}

export async function insertClientSecret(
  db: Kysely<Schema>,
  secret: NewRecord<'ssf_client_secret'>,
): Promise<void> {
  await secretTable.insert(db, secret)
}

/** Lets the present secrets of a client end at a time, those that end sooner as planned. */
export async function limitClientSecrets(
  db: Kysely<Schema>,
  clientId: string,
  expiresAt: Date,
): Promise<void> {
  await db
    .updateTable('ssf_client_secret')
    .set({ expires_at: sql<Date>`least(coalesce(expires_at, ${expiresAt}), ${expiresAt})` })
    .where('ssf_client_id', '=', clientId)
    .execute()
}

/** Removes the secrets of a client. */
export async function deleteClientSecrets(db: Kysely<Schema>, clientId: string): Promise<void> {
  await secretTable.delete(db, { ssfClientId: clientId })
}

/** How many clients are not revoked. */
export async function countLiveClients(db: Kysely<Schema>): Promise<number> {
  const { count } = await db
    .selectFrom('ssf_client')
    .select((select) => select.fn.countAll<string>().as('count'))
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The live client that a stream belongs to, by the `stream_id`; undefined for streams without one. */
export async function findStreamClient(
  db: Kysely<Schema>,
  streamId: StreamId,
): Promise<{ readonly id: string; readonly clientId: string; readonly name: string } | undefined> {
  return db
    .selectFrom('ssf_client as client')
    .innerJoin('ssf_stream as stream', 'stream.ssf_client_id', 'client.id')
    .select(['client.id', 'client.client_id as clientId', 'client.name'])
    .where('stream.stream_id', '=', streamId)
    .where('client.revoked_at', 'is', null)
    .executeTakeFirst()
}
