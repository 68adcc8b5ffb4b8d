import { sql, type Expression, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import type { CheckStatus } from '../../schema/status-values.ts'
import type { SearchClause } from '../../platform/search/search-field.ts'
import {
  inPart,
  referencedField,
  type ClauseCondition,
  type ConditionOfPart,
} from '../../platform/search/search-to-sql.ts'
import { RecordList, type RowOf } from '../../platform/search/record-list.ts'
import {
  isRoundTime,
  isTimeOfRound,
  laterOfRound,
  toTimeBound,
  type RoundFollower,
  type TimeBound,
} from './round-store.ts'

/** The statuses that a result can have. */
export const CHECK_RESULT_STATUSES = [
  'unknown',
  'passing',
  'failing',
  'errored',
  'inapplicable',
  'stale',
  'pending',
  'out_of_scope',
] as const satisfies readonly CheckStatus[]

/** How many rows of one result are shown, failing ones first. */
export const SHOWN_ROWS_MAX = 100

const FOLLOWER: RoundFollower = {
  device: 'check_result.device_id',
  follows: sql<SqlBool>`check_result.follows_round`,
}
/**
 * Results that were written before the last round of their device, so that its time is theirs. Those that
 * have a time of their own are in an index with this condition, which no round writes to.
 */
const IS_IN_ROUND = sql<SqlBool>`(check_result.follows_round
  and check_result.status not in ('pending', 'out_of_scope'))`
/** For queries that join `device_round`. */
const RAN_AT = laterOfRound('check_result.ran_at', FOLLOWER.follows)

/**
 * The present results of checks on devices at a time. Those of runs before `staleBefore` read as stale.
 */
export function checkResultList(now: Date, staleBefore: Date) {
  return new RecordList({
    noun: 'check result',
    table: 'check_result',
    fields: {
      device_display_name: {
        type: 'text',
        column: referencedField(
          { by: 'check_result.device_id', table: 'device' },
          sql.ref('device.name'),
        ),
      },
      ran_at: { type: 'timestamp', column: timeField('check_result.ran_at') },
      check_name: {
        type: 'text',
        column: referencedField(
          { by: 'check_result.check_id', table: 'posture_check' },
          sql.ref('posture_check.name'),
        ),
      },
      status: {
        type: 'enum',
        values: CHECK_RESULT_STATUSES,
        column: ({ values: [status] }) =>
          status === 'stale' ? isStale(staleBefore) : isStillOf(String(status), staleBefore),
      },
      updated_at: { type: 'timestamp', column: timeField('check_result.updated_at') },
    },
    select: (db: Kysely<Schema>) => selectCheckResults(db, now, staleBefore),
    // The results of a check lie far apart: each is a page of its own to read.
    nearRows: 1_000,
  })
}

/** That a result is of a device, as a condition on results. */
export function isResultOn(deviceId: string): Expression<SqlBool> {
  return sql<SqlBool>`check_result.device_id = ${deviceId}`
}

/** That a result is of a check, as a condition on results. */
export function isResultOf(checkId: string): Expression<SqlBool> {
  return sql<SqlBool>`check_result.check_id = ${checkId}`
}

function selectCheckResults(db: Kysely<Schema>, now: Date, staleBefore: Date) {
  return db
    .selectFrom('check_result')
    .innerJoin('posture_check', 'posture_check.id', 'check_result.check_id')
    .innerJoin('device', 'device.id', 'check_result.device_id')
    .leftJoin('device_round', 'device_round.device_id', 'check_result.device_id')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('issue')
          .select(['issue.exemption_reason', 'issue.exemption_expires_at'])
          .whereRef('issue.device_id', '=', 'check_result.device_id')
          .whereRef('issue.check_id', '=', 'check_result.check_id')
          .where('issue.resolved_at', 'is', null)
          .where('issue.exempted_at', 'is not', null)
          .where(
            sql<boolean>`(issue.exemption_expires_at is null or issue.exemption_expires_at > ${now})`,
          )
          .orderBy('issue.id')
          .limit(1)
          .as('exemption'),
      (join) => join.onTrue(),
    )
    .select([
      'check_result.id',
      'check_result.check_id',
      'posture_check.slug as check_slug',
      'posture_check.name as check_name',
      'check_result.device_id',
      'device.name as device_name',
      sql<Date | null>`${RAN_AT}`.as('ran_at'),
      'exemption.exemption_reason',
      'exemption.exemption_expires_at',
      readStatus(staleBefore).as('status'),
      sql<
        OsqueryRow[]
      >`jsonb_path_query_array(check_result.rows, ${sql.lit(`$[0 to ${SHOWN_ROWS_MAX - 1}]`)}::jsonpath)`.as(
        'rows',
      ),
    ])
}

/** A result as the API shows it. */
export type CheckResultRecord = RowOf<ReturnType<typeof checkResultList>>

/**
 * The status of `check_result` as it reads at present, for queries that join its `posture_check`.
 * Only checks that devices run by schedule grow stale: other systems report when they please.
 */
function readStatus(before: Date): RawBuilder<CheckStatus> {
  return sql<CheckStatus>`case when ${RAN_AT} < ${before} and ${CAN_GROW_STALE}
    and posture_check.type <> 'external' then 'stale' else check_result.status end`
}

const CAN_GROW_STALE = sql<SqlBool>`check_result.status not in ('pending', 'out_of_scope')`

/** That `readStatus` is `stale`. */
function isStale(before: Date): ClauseCondition {
  return [
    sql<SqlBool>`check_result.status = 'stale'`,
    ...whenOutdated(before).map(({ part, condition }) => ({
      part,
      condition: sql<SqlBool>`check_result.status <> 'stale' and ${condition}`,
    })),
  ]
}

/** That `readStatus` is another status. */
function isStillOf(status: string, before: Date): RawBuilder<SqlBool> {
  const isOld = sql.join(whenOutdated(before).map(inPart), sql` or `)
  return sql<SqlBool>`(check_result.status = ${status} and (${isOld}) is not true)`
}

function whenOutdated(before: Date): readonly ConditionOfPart[] {
  const isOld = whenTime('check_result.ran_at', { operator: '<', value: before })
  return isOld.map(({ part, condition }) => ({
    part,
    condition: sql<SqlBool>`${condition} and ${CAN_GROW_STALE} and exists (
    select from posture_check
    where posture_check.id = check_result.check_id and posture_check.type <> 'external')`,
  }))
}

function timeField(column: string) {
  return (clause: SearchClause): ClauseCondition => whenTime(column, toTimeBound(clause))
}

/** The results of a check lie on as many pages as there are devices: few of them are looked at. */
function whenTime(column: string, bound: TimeBound): readonly ConditionOfPart[] {
  const isRound = isTimeOfRound(bound, FOLLOWER)
  const isTime = isRoundTime(column, bound, FOLLOWER)
  return [
    { part: { name: 'in round', isIn: IS_IN_ROUND }, condition: isRound },
    { part: { name: 'out of round', isIn: sql<SqlBool>`not ${IS_IN_ROUND}` }, condition: isTime },
  ]
}
