import type { StreamId } from '../../schema/branded-ids.ts'
import { sql, type Insertable, type Kysely, type Selectable, type Updateable } from 'kysely'
import { defineRecord, type CamelCased } from '../../platform/db/record-codec.ts'
import { readPage, type PageWindow } from '../../platform/db/page.ts'
import { isId } from '../../platform/ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { notFound } from '../../platform/app-error.ts'

const clientRecord = defineRecord<Schema['ssf_client']>()

export type SsfClient = CamelCased<Selectable<Schema['ssf_client']>>
const secretRecord = defineRecord<Schema['ssf_client_secret']>()

/** What may change of a client. */
export type SsfClientChanges = CamelCased<Updateable<Schema['ssf_client']>>

export type SsfClientSecret = CamelCased<Selectable<Schema['ssf_client_secret']>>

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
  options: { readonly isLocked?: boolean } = {},
): Promise<SsfClient> {
  const row = await db
    .selectFrom('ssf_client')
    .selectAll()
    .where(isId(identifier) ? 'id' : 'client_id', '=', identifier)
    .$if(options.isLocked === true, (query) => query.forUpdate())
    .executeTakeFirstOrThrow(() => notFound('client', identifier))
  return clientRecord.fromRow(row)
}

/** The client that an authentication names; undefined when it is unknown or revoked. */
export async function findLiveClient(
  db: Kysely<Schema>,
  clientId: string,
  now: Date,
): Promise<ClientWithSecrets | undefined> {
  const client = await db
    .selectFrom('ssf_client')
    .selectAll()
    .where('client_id', '=', clientId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  if (client === undefined) return undefined
  const secrets = await listLiveSecrets(db, [client.id], now)
  return { ...clientRecord.fromRow(client), secrets }
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
    ...clientRecord.fromRow(client),
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
  return rows.map(secretRecord.fromRow)
}

export async function insertClient(
  db: Kysely<Schema>,
  client: CamelCased<Insertable<Schema['ssf_client']>>,
): Promise<SsfClient> {
  const row = await db
    .insertInto('ssf_client')
    .values(clientRecord.toInsert(client))
    .returningAll()
    .executeTakeFirstOrThrow()
  return clientRecord.fromRow(row)
}

export async function updateClient(
  db: Kysely<Schema>,
  id: string,
  changes: SsfClientChanges,
): Promise<SsfClient> {
  const row = await db
    .updateTable('ssf_client')
    .set(clientRecord.toUpdate(changes))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return clientRecord.fromRow(row)
}

export async function insertClientSecret(
  db: Kysely<Schema>,
  secret: CamelCased<Insertable<Schema['ssf_client_secret']>>,
): Promise<void> {
  await db.insertInto('ssf_client_secret').values(secretRecord.toInsert(secret)).execute()
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
  await db.deleteFrom('ssf_client_secret').where('ssf_client_id', '=', clientId).execute()
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
