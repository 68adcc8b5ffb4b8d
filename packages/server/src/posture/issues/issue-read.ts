import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { earliestBefore, type SearchClause } from '../../platform/search/search-field.ts'
import {
  clauseToSql,
  foreignKeyField,
  type ClauseCondition,
  type ConditionOfPart,
  type ConditionUse,
} from '../../platform/search/search-to-sql.ts'
import type { PageSought } from '../../platform/search/page-sought.ts'
import { RecordList, type RowOf } from '../../platform/search/record-list.ts'
import {
  isEitherTime,
  isRoundTime,
  isTime,
  isTimeOfRound,
  laterOfRound,
  toTimeBound,
  type RoundFollower,
  type TimeBound,
} from '../checks/round-store.ts'
import { snoozeEnd } from './snooze/snooze-store.ts'

const FOLLOWER: RoundFollower = {
  device: 'issue.device_id',
  follows: sql<SqlBool>`issue.follows_round and issue.resolved_at is null`,
}

/** The part of the list that follows rounds. */
const FOLLOWING = 'following'

/** Issues, open and resolved. */
export const ISSUE_LIST = new RecordList({
  noun: 'issue',
  table: 'issue',
  fields: {
    id: 'id',
    detected_at: 'timestamp',
    resolved_at: 'timestamp',
    blocks_device_at: 'timestamp',
    last_rechecked_at: { type: 'timestamp', column: timeField('issue.last_rechecked_at') },
    title: { type: 'text', column: wordingField('title') },
    issue_key: { type: 'text', column: wordingField('issue_key') },
    issue_value: 'text',
    exempted: { type: 'boolean', column: isExempted },
    open: { type: 'boolean', column: isOpen, isOfTime: isResolved },
    check_id: {
      type: 'id',
      operators: [':', '~'],
      column: foreignKeyField({ by: 'issue.check_id', table: 'posture_check' }),
    },
    device_id: {
      type: 'id',
      operators: [':', '~'],
      column: foreignKeyField({ by: 'issue.device_id', table: 'device' }),
    },
    updated_at: { type: 'timestamp', column: timeField('issue.updated_at') },
  },
  timeKey: sql`(issue.id + 0)`,
  likelyRows: toLikelyIssues,
  select: (db: Kysely<Schema>) =>
    db
      .selectFrom('issue')
      .leftJoin('device_round', 'device_round.device_id', 'issue.device_id')
      .select([
        'issue.id',
        'issue.check_id',
        'issue.device_id',
        'issue.person_id',
        'issue.title',
        'issue.issue_key',
        'issue.issue_value',
        'issue.value',
        'issue.detected_at',
        laterOfRound('issue.last_rechecked_at', FOLLOWER.follows).as('last_rechecked_at'),
        'issue.resolved_at',
        'issue.blocks_device_at',
        'issue.exempted_at',
        'issue.exemption_expires_at',
        'issue.exemption_reason',
        snoozeEnd('issue').as('snoozed_until'),
        laterOfRound('issue.updated_at', FOLLOWER.follows).as('updated_at'),
      ]),
})

/** An issue as the API shows it. */
export type IssueRecord = RowOf<typeof ISSUE_LIST>

/** That an issue is open and about a device, as a condition on issues. */
export function isOpenIssueOn(deviceId: string): Expression<SqlBool> {
  return sql<SqlBool>`issue.device_id = ${deviceId} and issue.resolved_at is null`
}

/** Issues have their words from their check: found are those of the checks that have ever had the words. */
function wordingField(column: 'title' | 'issue_key') {
  return (clause: SearchClause, use: ConditionUse): Expression<SqlBool> => {
    const isMatch = clauseToSql(sql.ref(`issue.${column}`), clause)
    if (use === 'compared') return isMatch
    const checks = sql`
      select check_id from issue_wording where ${clauseToSql(sql.ref(`issue_wording.${column}`), clause)}`
    const isOfCheck = use === 'found' ? sql`in (${checks})` : sql`= any(array(${checks}))`
    return sql<SqlBool>`(issue.check_id ${isOfCheck} and ${isMatch})`
  }
}

/**
 * Later are those that were written later, and others that follow a later round; each has an index. Which devices had
 * one, PostgreSQL knows better than where their issues lie.
 */
function timeField(column: string) {
  return (clause: SearchClause, use: ConditionUse): ClauseCondition => {
    const bound = toTimeBound(clause)
    if (bound.operator === ':') {
      return use === 'found' ? isAt(column, bound) : isEitherTime(column, bound, FOLLOWER)
    }
    if (bound.operator === '<') {
      return use === 'found' ? isBefore(column, bound) : isRoundTime(column, bound, FOLLOWER)
    }
    const isOwn = isTime(column, bound)
    return [
      isOwn,
      {
        part: { name: FOLLOWING, isIn: FOLLOWER.follows },
        condition: sql<SqlBool>`not ${isOwn} and ${isTimeOfRound(bound, FOLLOWER)}`,
        isOfOtherTable: true,
      },
    ]
  }
}

/**
 * Earlier are those that follow no round, of whose times there is a summary, and those of devices that were silent
 * since.
 */
function isBefore(column: string, bound: TimeBound): ClauseCondition {
  return [
    {
      part: { name: 'not following', isIn: sql<SqlBool>`not (${FOLLOWER.follows})` },
      condition: isTime(column, bound),
    },
    isOfRound(column, { own: bound, round: bound }),
  ]
}

/** Those that were written at a time, and earlier ones of the devices whose round was then. */
function isAt(column: string, bound: TimeBound): ClauseCondition {
  const [isWritten] = isEitherTime(column, bound, FOLLOWER)
  return [isWritten, isOfRound(column, { own: { ...bound, operator: '<' }, round: bound })]
}

/**
 * Those that follow rounds of a time. PostgreSQL begins with the devices where they are few: it must neither ask for
 * the round of each issue, as it does of a table but not of a query with an offset, nor read the index of all that
 * follow one, as it does for `FOLLOWER.follows`.
 */
function isOfRound(
  column: string,
  { own, round }: Readonly<Record<'own' | 'round', TimeBound>>,
): ConditionOfPart {
  return {
    part: {
      name: FOLLOWING,
      isIn: sql<SqlBool>`issue.follows_round::int = 1 and issue.resolved_at is null`,
    },
    condition: sql<SqlBool>`${isTime(column, own)} and issue.device_id in (
      select device_id from device_round where ${isTime('ran_at', round)} offset 0)`,
  }
}

/**
 * Rows among which the first matches are likely to be. The last issues are open ones, and open ones change with each
 * round: the last of others are among those that were resolved last. The first issues are resolved ones: the first open
 * ones have an index.
 */
function toLikelyIssues(clauses: readonly SearchClause[], page: PageSought) {
  const isOpenWanted = clauses.find(({ field }) => field.name === 'open')?.values[0]
  const before = earliestBefore(clauses)
  if (isOpenWanted === true) return toOpenIssues(before, page)
  if (!page.isDescending) return undefined
  if (before !== undefined) return lastBefore(before)
  return lastResolved(clauses)
}

/** Those that were resolved last, where all that is looked for is resolved. */
function lastResolved(clauses: readonly SearchClause[]) {
  const order = sql`order by issue.resolved_at desc`
  const after = clauses.find(
    ({ field, operator }) => field.name === 'resolved_at' && operator === '>',
  )
  if (after !== undefined) return sql`issue.resolved_at > ${after.values[0]} ${order}`
  const isResolvedWanted = clauses.some(({ field }) => field.name === 'open')
  return isResolvedWanted ? sql`issue.resolved_at is not null ${order}` : undefined
}

/** The first open issues; the last ones before a time were detected before it. */
function toOpenIssues(before: SearchClause | undefined, { isDescending, reach }: PageSought) {
  const isReached = reach.has(sql`(issue.id + 0)`, (key) => key)
  if (before === undefined || !isDescending) {
    return sql`${FOLLOWER.follows} and ${isReached}
      order by (issue.id + 0) ${isDescending ? sql`desc` : sql`asc`}`
  }
  return sql`issue.detected_at < ${before.values[0]} and ${isReached} order by issue.detected_at desc`
}

/** The last ones by a time that has an index; when they were resolved stands for when they changed last. */
function lastBefore({ field, values: [time] }: SearchClause) {
  const isIndexed = field.name === 'detected_at' || field.name === 'blocks_device_at'
  const column = sql.ref(isIndexed ? `issue.${field.name}` : 'issue.resolved_at')
  return sql`${column} < ${time} order by ${column} desc`
}

function isResolved({ values: [wanted] }: SearchClause): boolean {
  return wanted === false
}

function isOpen({ values: [wanted] }: SearchClause): Expression<SqlBool> {
  return wanted === true
    ? sql<SqlBool>`issue.resolved_at is null`
    : sql<SqlBool>`issue.resolved_at is not null`
}

function isExempted({ values: [wanted] }: SearchClause): Expression<SqlBool> {
  return wanted === true
    ? sql<SqlBool>`issue.exempted_at is not null`
    : sql<SqlBool>`issue.exempted_at is null`
}
