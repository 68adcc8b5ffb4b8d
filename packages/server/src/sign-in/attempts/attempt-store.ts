import { sql, type Insertable, type Kysely, type Transaction, type Updateable } from 'kysely'
import { notFound } from '../../platform/app-error.ts'
import type { Change } from '../../changes/change.ts'
import type { CamelCased } from '../../platform/db/record-table.ts'
import { UNAWAITED } from '../../platform/db/unawaited.ts'
import { isUuid } from '../../platform/ids.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const attemptTable = defineTable('sign_in_attempt')

/** A sign-in from its beginning to its end. */
export type Attempt = RecordOf<typeof attemptTable>

type NewAttempt = CamelCased<Insertable<Schema['sign_in_attempt']>>
type AttemptChanges = CamelCased<Updateable<Schema['sign_in_attempt']>>

/** The channel that tells every process of a changed attempt: its id and revision. */
export const ATTEMPT_CHANNEL = 'heliograph_attempt'

/** The channel that tells the worker when an attempt under way ends by time. */
export const ATTEMPT_EXPIRY_CHANNEL = 'heliograph_attempt_expiry'

export async function insertAttempt(
  { tx, tellDueAfterCommit }: Pick<Change, 'tx' | 'tellDueAfterCommit'>,
  attempt: NewAttempt,
): Promise<Attempt> {
  const inserted = await attemptTable.insert(tx, attempt)
  tellDueAfterCommit(ATTEMPT_EXPIRY_CHANNEL, inserted.expiresAt)
  return inserted
}

export async function findAttempt(db: Kysely<Schema>, id: string): Promise<Attempt | undefined> {
  return isUuid(id) ? attemptTable.find(db, { id }) : undefined
}

/** How often an attempt has changed; undefined when it is gone. */
export async function findAttemptRevision(
  db: Kysely<Schema>,
  id: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('sign_in_attempt')
    .select('revision')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.revision
}

/**
 * The attempt, locked until the transaction ends.
 *
 * @throws AppError `not_found`
 */
export async function getAttemptForUpdate(tx: Transaction<Schema>, id: string): Promise<Attempt> {
  const attempt = isUuid(id) ? await attemptTable.find(tx, { id }, { isLocked: true }) : undefined
  if (attempt === undefined) throw notFound('sign-in', id)
  return attempt
}

/** Changes a locked attempt, counts its revision up and has every process told after the commit. */
export async function updateAttempt(
  { tx, tellAfterCommit }: Pick<Change, 'tx' | 'tellAfterCommit'>,
  attempt: Attempt,
  changes: Omit<AttemptChanges, 'id' | 'revision'>,
): Promise<Attempt> {
  const revision = attempt.revision + 1
  const changed = await attemptTable.update(tx, { id: attempt.id }, { ...changes, revision })
  tellAfterCommit(ATTEMPT_CHANNEL, JSON.stringify({ id: attempt.id, revision }))
  return changed
}

/** Notes that the browser was sent back with what an ended attempt came to; false when it was before. */
export async function updateAttemptReturned(
  tx: Transaction<Schema>,
  id: string,
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('sign_in_attempt')
    .set({ returned_at: at })
    .where('id', '=', id)
    .where('ended_at', 'is not', null)
    .where('returned_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Locks the attempt under way whose time was over first; waits for none. */
export async function claimExpiredAttempt(
  tx: Transaction<Schema>,
  at: Date,
): Promise<Attempt | undefined> {
  const row = await tx
    .selectFrom('sign_in_attempt')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('expires_at', '<=', at)
    .orderBy('expires_at')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  return row && attemptTable.fromRow(row)
}

/** When the next attempt under way ends by time. */
export async function findNextAttemptExpiry(db: Kysely<Schema>): Promise<Date | undefined> {
  const row = await db
    .selectFrom('sign_in_attempt')
    .select('expires_at')
    .where('ended_at', 'is', null)
    .orderBy('expires_at')
    .limit(1)
    .executeTakeFirst()
  return row?.expires_at
}

/** Forgets an attempt of which nobody ever knew whose it was. */
export async function deleteAttempt(tx: Transaction<Schema>, id: string): Promise<void> {
  await attemptTable.delete(tx, { id })
}

/**
 * How many attempts from an address are under way, or began since a time and came to nothing, counted up to a bound.
 */
export async function countAttemptsOfAddress(
  db: Kysely<Schema>,
  bucket: string,
  failedSince: Date,
  countMax: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      (select from sign_in_attempt
       where address_bucket = ${bucket} and ended_at is null
       limit ${countMax})
      union all
      (select from sign_in_attempt
       where address_bucket = ${bucket} and stage in ('refused', 'abandoned')
         and ended_at > ${failedSince} and started_at > ${failedSince}
       limit ${countMax})) attempts`.execute(db)
  return rows[0]?.count ?? 0
}

/** How many attempts are under way, counted up to a bound. */
export async function countAttemptsUnderWay(db: Kysely<Schema>, countMax: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from sign_in_attempt where ended_at is null limit ${countMax}) attempts`.execute(db)
  return rows[0]?.count ?? 0
}

/**
 * Locks attempts under way of the addresses that have the most of them, the oldest first; of one person where that is
 * asked for. Whoever is the only one behind an address is the last to be named. Waits for none.
 */
export async function listCrowdedAttemptsForUpdate(
  tx: Transaction<Schema>,
  personId: string | null,
  limit: number,
): Promise<Attempt[]> {
  const { rows: crowded } = await sql<{ id: string }>`
    select id from sign_in_attempt
    where ended_at is null and (${personId}::bigint is null or person_id = ${personId}::bigint)
    order by count(*) over (partition by coalesce(address_bucket, ip_address)) desc, started_at, id limit ${limit}`.execute(
    tx,
  )
  if (crowded.length === 0) return []
  const rows = await tx
    .selectFrom('sign_in_attempt')
    .selectAll()
    .where(
      'id',
      'in',
      crowded.map(({ id }) => id),
    )
    .where('ended_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .skipLocked()
    .execute()
  return rows.map((row) => attemptTable.fromRow(row))
}

/** How many attempts of a person are under way, counted up to a bound. */
export async function countAttemptsOfPerson(
  db: Kysely<Schema>,
  personId: string,
  countMax: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from sign_in_attempt
      where person_id = ${personId} and ended_at is null limit ${countMax}) attempts`.execute(db)
  return rows[0]?.count ?? 0
}

/**
 * Tells every process, at commit, of attempts under way from devices, which may have to show another status. In the
 * transaction: the database alone knows which they are, nobody waits for it to say so, and few commits find any.
 */
export async function notifyAttemptsOfDevices(
  tx: Transaction<Schema>,
  deviceIds: readonly string[],
  isDecided: boolean,
): Promise<void> {
  // One text however many there are, which is planned once.
  await sql`${UNAWAITED}
    select pg_notify(${ATTEMPT_CHANNEL},
      json_build_object('id', id, 'revision', revision, 'isDecided', ${isDecided}::boolean)::text)
    from sign_in_attempt
    where device_id = any(${deviceIds}::bigint[]) and ended_at is null`.execute(tx)
}
