/*
 * The time of the last round of a device, in which it answered all its checks. Results and issues that the round
 * found as they were follow it instead of being written. SQL only; what follows is decided in round-changes.ts.
 */
import { sql, type Expression, type RawBuilder, type SqlBool, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { inStepsById, STEP_ROWS } from '../../platform/db/by-id-steps.ts'
import { UNAWAITED } from '../../platform/db/unawaited.ts'
import { notifyDeviceChanged } from '../devices/device-store.ts'
import type { SearchClause } from '../../platform/search/search-field.ts'
import { compareTime } from '../../platform/search/search-to-sql.ts'

/**
 * Notes that devices answered all their checks, which decides when they are due again. A device that enrolled since
 * has no time of its own: it gets one, so that its round is not due at once any more. The devices must be locked.
 */
export async function upsertDeviceRounds(
  tx: Transaction<Schema>,
  deviceIds: readonly string[],
  ranAt: Date,
): Promise<void> {
  if (deviceIds.length === 0) return
  await sql`${UNAWAITED}
    with ran as materialized (
      select value::bigint as device_id
      from jsonb_array_elements_text(${JSON.stringify(deviceIds)}::jsonb)),
    first_round as (
      update device set checks_ran_at = ${ranAt} from ran
      where device.id = ran.device_id
        and (device.checks_ran_at is null or device.checks_ran_at > ${ranAt}))
    insert into device_round (device_id, ran_at) select device_id, ${ranAt} from ran
    order by device_id
    on conflict (device_id) do update set ran_at = excluded.ran_at`.execute(tx)
}

/** Makes the checks of every device due at once, in all processes. Locks the devices by ascending id. */
export async function endEveryRound(tx: Transaction<Schema>): Promise<void> {
  await inStepsById(async (afterId) => {
    const { rows } = await sql<{ lastId: string | null }>`
      with locked as materialized (
        select id from device where id > ${afterId} and checks_ran_at is not null
        order by id limit ${STEP_ROWS} for update),
      ended as (
        update device set checks_ran_at = null from locked where device.id = locked.id)
      select max(id) as "lastId" from locked`.execute(tx)
    return rows[0]?.lastId
  })
  await notifyDeviceChanged(tx, 'all')
}

/** What followed the last round of a device and does not follow the next one. */
export interface LeftBehind {
  /** Results of all other checks stay behind, with their issues. */
  readonly checkIdsInRound: readonly string[]
  readonly issueIds: readonly string[]
}

/** Gives results and issues the time of the last round as their own. To be called before the next one is noted. */
export async function updateLeftBehind(
  tx: Transaction<Schema>,
  deviceId: string,
  { checkIdsInRound, issueIds }: LeftBehind,
): Promise<void> {
  await sql`
    with round as materialized (select ran_at from device_round where device_id = ${deviceId}),
    released as (
      update check_result result set follows_round = false,
        ran_at = greatest(result.ran_at, round.ran_at),
        updated_at = greatest(result.updated_at, round.ran_at)
      from round
      where result.device_id = ${deviceId} and result.follows_round
        and result.check_id <> all(${checkIdsInRound}::bigint[])
      returning result.check_id)
    update issue set follows_round = false,
      last_rechecked_at = greatest(issue.last_rechecked_at, round.ran_at),
      updated_at = greatest(issue.updated_at, round.ran_at)
    from round
    where issue.device_id = ${deviceId} and issue.resolved_at is null and issue.follows_round
      and (issue.id = any(${issueIds}::bigint[])
        or issue.check_id in (select check_id from released))`.execute(tx)
}

/** A time that reads as that of the round where the row follows it; queries join `device_round`. */
export function laterOfRound(column: string, follows: Expression<SqlBool>): RawBuilder<Date> {
  const own = sql.ref(column)
  return sql<Date>`case when ${follows} then greatest(${own}, device_round.ran_at) else ${own} end`
}

/** A row that may follow the round of a device. */
export interface RoundFollower {
  /** The column with the device, as `issue.device_id`. */
  readonly device: string
  readonly follows: Expression<SqlBool>
}

/** A time that rows are searched by, and how. */
export interface TimeBound {
  readonly operator: ':' | '<' | '>'
  readonly value: unknown
}

/** What a search by a time asks for; fields of times are never searched by a part. */
export function toTimeBound({ operator, values: [value] }: SearchClause): TimeBound {
  return { operator: operator === '~' ? ':' : operator, value }
}

/** That such a time is at, before or after another one; of use where `device_round` is not joined. */
export function isRoundTime(
  column: string,
  bound: TimeBound,
  follower: RoundFollower,
): RawBuilder<SqlBool> {
  const isOwn = isTime(column, bound)
  const isRound = isTimeOfRound(bound, follower)
  const { follows } = follower
  switch (bound.operator) {
    case '<':
      return sql<SqlBool>`(${isOwn} and (not (${follows}) or ${isRound}))`
    case '>':
      return sql<SqlBool>`(${isOwn} or (${follows} and ${isRound}))`
    case ':':
      return sql<SqlBool>`(${sql.join(isEitherTime(column, bound, follower), sql` or `)})`
  }
}

/** That the later of both times is at another one, as conditions of which a row meets one at most. */
export function isEitherTime(
  column: string,
  { value }: TimeBound,
  follower: RoundFollower,
): readonly [isWritten: RawBuilder<SqlBool>, isRound: RawBuilder<SqlBool>] {
  const { follows } = follower
  const isLaterRound = isTimeOfRound({ operator: '>', value }, follower)
  const isAtRound = isTimeOfRound({ operator: ':', value }, follower)
  const [isAt, isBefore] = [
    isTime(column, { operator: ':', value }),
    isTime(column, { operator: '<', value }),
  ]
  return [
    sql<SqlBool>`${isAt} and not (${follows} and ${isLaterRound} and not ${isAtRound})`,
    sql<SqlBool>`${isBefore} and ${follows} and ${isAtRound}`,
  ]
}

/** That the last round of the device was at, before or after a time. */
export function isTimeOfRound(bound: TimeBound, { device }: RoundFollower): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (
    select from device_round where device_id = ${sql.ref(device)} and ${isTime('ran_at', bound)})`
}

/** That a time of the row itself is at, before or after another one. */
export function isTime(column: string, { operator, value }: TimeBound): RawBuilder<SqlBool> {
  return compareTime(sql.ref(column), operator, value)
}
