import { sql, type Kysely } from 'kysely'
import { DAY_MS } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'

/** What a key did with a permission, or without it, on a day. */
export interface PermissionUses {
  readonly keyId: string
  readonly permission: string
  /** The beginning of the day in UTC. */
  readonly dayBeganAt: Date
  readonly allowedCount: number
  readonly refusedCount: number
  readonly lastAllowedAt: Date | null
  readonly lastRefusedAt: Date | null
  /** Method and path of the operation that was refused last. */
  readonly lastRefusedOperation: string | null
}

/** The beginning of the day of a time, in UTC. */
export function toDayBegin(at: Date): Date {
  return new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS)
}

/** Adds what keys did to what is stored of their days. Keys that are gone are left out. */
export async function addPermissionUses(
  db: Kysely<Schema>,
  uses: readonly PermissionUses[],
): Promise<void> {
  await sql`
    insert into api_key_permission_use (api_key_id, permission, day_began_at, allowed_count,
      refused_count, last_allowed_at, last_refused_at, last_refused_operation)
    select used.* from unnest(
      ${uses.map(({ keyId }) => keyId)}::bigint[],
      ${uses.map(({ permission }) => permission)}::text[],
      ${uses.map(({ dayBeganAt }) => dayBeganAt)}::timestamptz[],
      ${uses.map(({ allowedCount }) => allowedCount)}::bigint[],
      ${uses.map(({ refusedCount }) => refusedCount)}::bigint[],
      ${uses.map(({ lastAllowedAt }) => lastAllowedAt)}::timestamptz[],
      ${uses.map(({ lastRefusedAt }) => lastRefusedAt)}::timestamptz[],
      ${uses.map(({ lastRefusedOperation }) => lastRefusedOperation)}::text[]
    ) as used (api_key_id, permission, day_began_at, allowed_count, refused_count, last_allowed_at,
      last_refused_at, last_refused_operation)
    join api_key on api_key.id = used.api_key_id
    order by used.api_key_id, used.permission, used.day_began_at
    on conflict (api_key_id, permission, day_began_at) do update set
      allowed_count = api_key_permission_use.allowed_count + excluded.allowed_count,
      refused_count = api_key_permission_use.refused_count + excluded.refused_count,
      last_allowed_at = greatest(api_key_permission_use.last_allowed_at, excluded.last_allowed_at),
      last_refused_at = greatest(api_key_permission_use.last_refused_at, excluded.last_refused_at),
      last_refused_operation = case
        when excluded.last_refused_at < api_key_permission_use.last_refused_at
          then api_key_permission_use.last_refused_operation
        else coalesce(excluded.last_refused_operation, api_key_permission_use.last_refused_operation) end`.execute(
    db,
  )
}

/** The days of a key since a time, by permission and then by day. */
export async function listPermissionUses(
  db: Kysely<Schema>,
  keyId: string,
  since: Date,
): Promise<PermissionUses[]> {
  const rows = await db
    .selectFrom('api_key_permission_use')
    .selectAll()
    .where('api_key_id', '=', keyId)
    .where('day_began_at', '>=', since)
    .orderBy('permission')
    .orderBy('day_began_at')
    .execute()
  return rows.map((row) => ({
    keyId: row.api_key_id,
    permission: row.permission,
    dayBeganAt: row.day_began_at,
    allowedCount: Number(row.allowed_count),
    refusedCount: Number(row.refused_count),
    lastAllowedAt: row.last_allowed_at,
    lastRefusedAt: row.last_refused_at,
    lastRefusedOperation: row.last_refused_operation,
  }))
}
