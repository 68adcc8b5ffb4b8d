import { sql, type Kysely, type SqlBool, type Transaction } from 'kysely'
import type { Insertable, Updateable } from 'kysely'
import { notFound } from '../../platform/app-error.ts'
import { afterKey, type PageWindow } from '../../platform/db/page.ts'
import type { CamelCased } from '../../platform/db/record-table.ts'
import { isUuid } from '../../platform/ids.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const keyTable = defineTable('browser_key')

/** A key that a browser holds. */
export type BrowserKey = RecordOf<typeof keyTable>

export async function insertBrowserKey(
  tx: Transaction<Schema>,
  key: CamelCased<Insertable<Schema['browser_key']>>,
): Promise<BrowserKey> {
  return keyTable.insert(tx, key)
}

/** A key, locked until the transaction ends. */
export async function findBrowserKeyForUpdate(
  tx: Transaction<Schema>,
  id: string,
): Promise<BrowserKey | undefined> {
  return isUuid(id) ? keyTable.find(tx, { id }, { isLocked: true }) : undefined
}

/**
 * A key, locked until the transaction ends.
 *
 * @throws AppError `not_found`
 */
export async function getBrowserKeyForUpdate(
  tx: Transaction<Schema>,
  id: string,
): Promise<BrowserKey> {
  const key = await findBrowserKeyForUpdate(tx, id)
  if (key === undefined) throw notFound('browser key', id)
  return key
}

export async function updateBrowserKey(
  tx: Transaction<Schema>,
  id: string,
  changes: CamelCased<Updateable<Schema['browser_key']>>,
): Promise<BrowserKey> {
  return keyTable.update(tx, { id }, changes)
}

/** Remembers that another key has taken the place of one; false for what some key was before. */
export async function insertFormerKey(
  tx: Transaction<Schema>,
  browserKeyId: string,
  thumbprint: string,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('browser_key_former')
    .values({ thumbprint, browser_key_id: browserKeyId })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Whether one of these was the key of a browser before. */
export async function hasFormerKey(
  db: Kysely<Schema>,
  browserKeyId: string,
  thumbprints: readonly string[],
): Promise<boolean> {
  if (thumbprints.length === 0) return false
  const row = await db
    .selectFrom('browser_key_former')
    .select('thumbprint')
    .where('browser_key_id', '=', browserKeyId)
    .where('thumbprint', 'in', thumbprints)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** The live keys of a person on a device, the one that was used last first. */
export async function listLiveKeysOf(
  db: Kysely<Schema>,
  { personId, deviceId }: Pick<BrowserKey, 'personId' | 'deviceId'>,
): Promise<BrowserKey[]> {
  const rows = await db
    .selectFrom('browser_key')
    .selectAll()
    .where('person_id', '=', personId)
    .where('device_id', '=', deviceId)
    .where('ended_at', 'is', null)
    .orderBy('last_used_at', 'desc')
    .orderBy('id')
    .execute()
  return rows.map((row) => keyTable.fromRow(row))
}

/** A key with what it stands for. */
export interface ListedBrowserKey extends BrowserKey {
  readonly personEmail: string
  readonly deviceName: string
}

/** Which keys a list shows. */
export interface BrowserKeyFilters {
  readonly personId?: string | undefined
  readonly deviceId?: string | undefined
  readonly isLive?: boolean | undefined
}

/** Keys by their ids. */
export async function listBrowserKeys(
  db: Kysely<Schema>,
  { personId, deviceId, isLive }: BrowserKeyFilters,
  window: PageWindow,
): Promise<ListedBrowserKey[]> {
  const conditions = [
    ...(personId === undefined ? [] : [sql<SqlBool>`k.person_id = ${personId}`]),
    ...(deviceId === undefined ? [] : [sql<SqlBool>`k.device_id = ${deviceId}`]),
    ...(isLive === true ? [sql<SqlBool>`k.ended_at is null`] : []),
    afterKey(sql.ref('k.id'), window),
  ]
  const rows = await db
    .selectFrom('browser_key as k')
    .innerJoin('person as p', 'p.id', 'k.person_id')
    .innerJoin('device as d', 'd.id', 'k.device_id')
    .selectAll('k')
    .select(['p.email as person_email', 'd.name as device_name'])
    .where(sql<SqlBool>`${sql.join(conditions, sql` and `)}`)
    .orderBy('k.id')
    .limit(window.limit)
    .execute()
  return rows.map((row) => keyTable.fromRow(row) as unknown as ListedBrowserKey)
}

/** What a live key of a sign-in tells of its device. */
export interface KeyOfAttempt {
  readonly id: string
  readonly deviceId: string
  readonly lastProvenAt: Date
  /** Whether the device has been registered, and is so, since the key was bound. */
  readonly isRegisteredSince: boolean
}

/** The live key that the browser of a sign-in has shown, when it is of the person who signs in. */
export async function findKeyOfAttempt(
  db: Kysely<Schema>,
  attemptId: string,
): Promise<KeyOfAttempt | undefined> {
  const { rows } = await sql<KeyOfAttempt>`
    select k.id, k.device_id as "deviceId", k.last_proven_at as "lastProvenAt",
      coalesce(d.registered_at <= k.bound_at, false) as "isRegisteredSince"
    from sign_in_attempt t join browser_key k on k.id = t.browser_key_id and k.person_id = t.person_id
      join device d on d.id = k.device_id
    where t.id = ${attemptId} and k.ended_at is null`.execute(db)
  return rows[0]
}

/** Locks the live sessions that were granted because of a key alone, by ascending id. */
export async function listSessionsByKeyForUpdate(
  tx: Transaction<Schema>,
  browserKeyId: string,
  at: Date,
): Promise<string[]> {
  const rows = await tx
    .selectFrom('sign_in_granted_session as s')
    .innerJoin('sign_in_attempt as t', 't.id', 's.attempt_id')
    .select('s.id')
    .where('t.browser_key_id', '=', browserKeyId)
    .where('s.assurance', '=', 'key')
    .where('s.ended_at', 'is', null)
    .where('s.expires_at', '>', at)
    .orderBy('s.id')
    .forUpdate('s')
    .execute()
  return rows.map(({ id }) => id)
}
