import { sql, type Kysely, type RawBuilder } from 'kysely'
import { notFound } from '../../platform/app-error.ts'
import { readPage, type PageWindow } from '../../platform/db/page.ts'
import {
  RATE_LIMIT_WINDOW_SECONDS,
  type TakenPlaces,
} from '../../platform/rate-limits/rate-limiter.ts'
import { isId, parseId } from '../../platform/ids.ts'
import {
  defineTable,
  type RecordOf,
  type NewRecord,
  type RecordChanges,
} from '../../schema/define-table.ts'
import type { Permission } from '../../schema/permissions.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Admin } from '../admins/find-admin.ts'

const keyTable = defineTable('api_key')

export type ApiKey = RecordOf<typeof keyTable>

/** A permission of a key with the reason it was granted for. */
export interface GrantedPermission {
  readonly permission: string
  readonly rationale: string
}

/** A key as lists show it. */
export interface ApiKeyWithPermissions extends ApiKey {
  /** Null for a key that ended before its admin was removed. */
  readonly responsibleEmail: string | null
  readonly permissions: GrantedPermission[]
}

/** What authentication needs of a key. */
export interface KeyCredential {
  readonly id: string
  readonly name: string
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  /** Of the admin who answers for it; null when there is none. */
  readonly responsibleAccess: Admin['access'] | null
  readonly permissions: string[]
}

/** A key that was asked for. */
export interface AdmittedKey extends KeyCredential {
  readonly hash: Buffer
  /** What was taken of its rate limit; null where it is not live, or none was asked for. */
  readonly places: TakenPlaces | null
}

/** How many requests of which keys are to be admitted. */
export interface KeyRequests {
  readonly hashes: readonly Buffer[]
  /** Requests of each of them; null takes no place of its limit. */
  readonly counts: readonly (number | null)[]
  readonly capacity: number
  readonly now: Date
}

/**
 * Asks for the credentials whose hashes these are, live or not, and for those that are, as many places of their rate
 * limits as are free of those asked for. One statement; buckets are locked by ascending id, as by every other process.
 */
export function toAdmission({
  hashes,
  counts,
  capacity,
  now,
}: KeyRequests): RawBuilder<AdmittedKey> {
  return sql<AdmittedKey>`
    select hash, id, name, expires_at as "expiresAt", revoked_at as "revokedAt", access as "responsibleAccess",
      permissions, places
    from admit_keys(
      ${hashes}::bytea[], ${counts}::integer[], ${capacity}, ${RATE_LIMIT_WINDOW_SECONDS}, ${now}
    )`
}

/** The credential whose hash this is, live or not. */
export async function findKeyCredential(
  db: Kysely<Schema>,
  secretHash: Buffer,
): Promise<KeyCredential | undefined> {
  return db
    .selectFrom('api_key')
    .leftJoin('admin_user', (join) =>
      join
        .onRef('admin_user.id', '=', 'api_key.responsible_admin_id')
        .on('admin_user.deactivated_at', 'is', null),
    )
    .select([
      'api_key.id',
      'name',
      'expires_at as expiresAt',
      'revoked_at as revokedAt',
      'admin_user.access as responsibleAccess',
    ])
    .select(
      sql<
        string[]
      >`array(select permission from api_key_permission where api_key_id = api_key.id)`.as(
        'permissions',
      ),
    )
    .where('secret_hash', '=', secretHash)
    .executeTakeFirst()
}

/**
 * The key, locked until the transaction ends.
 *
 * @throws AppError `not_found`
 */
export async function getKeyForUpdate(db: Kysely<Schema>, id: string): Promise<ApiKey> {
  const key = isId(id) ? await keyTable.find(db, { id }, { isLocked: true }) : undefined
  if (key === undefined) throw notFound('API key', id)
  return key
}

/** The keys that an admin answers for and that are not revoked, by id, locked until the transaction ends. */
export async function listLiveKeysForUpdate(
  db: Kysely<Schema>,
  adminId: string,
): Promise<ApiKey[]> {
  const rows = await db
    .selectFrom('api_key')
    .selectAll()
    .where('responsible_admin_id', '=', adminId)
    .where('revoked_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute()
  return rows.map(keyTable.fromRow)
}

/** No key names this admin any more. */
export async function deleteResponsibility(db: Kysely<Schema>, adminId: string): Promise<void> {
  await db
    .updateTable('api_key')
    .set({ responsible_admin_id: null })
    .where('responsible_admin_id', '=', adminId)
    .execute()
}

export async function insertKey(db: Kysely<Schema>, values: NewRecord<'api_key'>): Promise<ApiKey> {
  return keyTable.insert(db, values)
}

export async function insertKeyPermissions(
  db: Kysely<Schema>,
  keyId: string,
  permissions: readonly GrantedPermission[],
  grantedAt: Date,
): Promise<void> {
  if (permissions.length === 0) return
  await db
    .insertInto('api_key_permission')
    .values(
      permissions.map((granted) => ({ ...granted, api_key_id: keyId, granted_at: grantedAt })),
    )
    .execute()
}

export async function listKeyPermissions(
  db: Kysely<Schema>,
  keyId: string,
): Promise<GrantedPermission[]> {
  return db
    .selectFrom('api_key_permission')
    .select(['permission', 'rationale'])
    .where('api_key_id', '=', keyId)
    .orderBy('permission')
    .execute()
}

export async function updateKey(
  db: Kysely<Schema>,
  id: string,
  values: RecordChanges<'api_key'>,
): Promise<ApiKey> {
  return keyTable.update(db, { id }, values)
}

function selectKeys(db: Kysely<Schema>) {
  return db
    .selectFrom('api_key')
    .leftJoin('admin_user', 'admin_user.id', 'api_key.responsible_admin_id')
    .selectAll('api_key')
    .select('admin_user.email as responsible_email')
    .select(
      sql<GrantedPermission[]>`coalesce((
        select json_agg(json_build_object('permission', permission, 'rationale', rationale) order by permission)
        from api_key_permission where api_key_id = api_key.id), '[]')`.as('permissions'),
    )
}

/** All keys by ascending id, with their permissions. */
export async function listAllKeys(db: Kysely<Schema>): Promise<ApiKeyWithPermissions[]> {
  const rows = await selectKeys(db).orderBy('api_key.id').execute()
  return rows.map(keyTable.fromRow)
}

/** A page of keys by ascending id, with their permissions. */
export async function listKeys(
  db: Kysely<Schema>,
  window: PageWindow,
): Promise<ApiKeyWithPermissions[]> {
  const rows = await readPage(selectKeys(db), 'api_key.id', window)
  return rows.map(keyTable.fromRow)
}

/**
 * A key with its permissions.
 *
 * @throws AppError `not_found`, the same for every text that is the id of none
 */
export async function getKey(db: Kysely<Schema>, id: string): Promise<ApiKeyWithPermissions> {
  const row = await selectKeys(db)
    .where('api_key.id', '=', parseId(id, 'API key'))
    .executeTakeFirstOrThrow(() => notFound('API key', id))
  return keyTable.fromRow(row)
}

/** The keys by ascending id that are live at a time and hold a permission. */
export async function listLiveKeysWith(
  db: Kysely<Schema>,
  permission: Permission,
  at: Date,
): Promise<ApiKey[]> {
  const rows = await db
    .selectFrom('api_key')
    .innerJoin('api_key_permission', 'api_key_permission.api_key_id', 'api_key.id')
    .selectAll('api_key')
    .where('api_key_permission.permission', '=', permission)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', at)]))
    .orderBy('api_key.id')
    .execute()
  return rows.map(keyTable.fromRow)
}

/** Takes permissions from a key. */
export async function deleteKeyPermissions(
  db: Kysely<Schema>,
  keyId: string,
  permissions: readonly string[],
): Promise<void> {
  if (permissions.length === 0) return
  await db
    .deleteFrom('api_key_permission')
    .where('api_key_id', '=', keyId)
    .where('permission', 'in', permissions)
    .execute()
}

/** Moves `last_used_at` of several keys forward. */
export async function updateKeysLastUsed(
  db: Kysely<Schema>,
  lastUsedById: ReadonlyMap<string, Date>,
): Promise<void> {
  const ids = [...lastUsedById.keys()]
  const times = [...lastUsedById.values()]
  await sql`update api_key set last_used_at = used.at
    from unnest(${ids}::bigint[], ${times}::timestamptz[]) as used (id, at)
    where api_key.id = used.id and (api_key.last_used_at is null or api_key.last_used_at < used.at)`.execute(
    db,
  )
}
