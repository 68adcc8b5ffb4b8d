/*
 * The end of whole partitions: those of which every row is old enough and that nobody holds are dropped, without
 * touching a row. Of the others, which of their rows are left because they will soon end like that. SQL only.
 */
import { sql, type Kysely, type QueryExecutorProvider, type RawBuilder } from 'kysely'
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../clock.ts'
import {
  dropPartition,
  isTableInUse,
  listFullPartitions,
  type Partition,
} from '../partitions/partition-store.ts'
import { toCondition, type AgingTable, type RowsEnd } from './aging-rows-store.ts'
import type { EndPartitions, RetentionWindow } from './retention-policy.ts'

/** How often a partition is tried whose table is in use, before the next pass. */
const DROP_TRIES_MAX = 5
const DROP_PAUSE_MS = SECOND_MS

/** Ends the partitions of a table that are old enough. */
export function expirePartitions(aging: AgingTable, rows: RowsEnd): EndPartitions {
  return async (db, before) => {
    let count = 0
    for (const partition of await listFullPartitions(db, aging.table)) {
      const last = await findLastAge(db, aging, partition)
      // The last row has not begun to age.
      if (last === null) continue
      if (last !== undefined && last > before) break
      if (last === undefined && !(await isLeft(db, aging, partition))) break
      if (await isHeld(db, aging, rows, partition, before)) continue
      const ended = await countRows(db, aging, partition)
      if (!(await tryToDrop(db, aging.table, partition))) break
      count += ended
    }
    return count
  }
}

/** The rows that end with their partition in the time between, as a condition on the row `r`. */
export async function findDeferredKeys(
  db: QueryExecutorProvider,
  aging: AgingTable,
  { before, soon }: Required<Pick<RetentionWindow, 'before' | 'soon'>>,
): Promise<RawBuilder<unknown>> {
  const deferred: Partition[] = []
  for (const partition of await listFullPartitions(db, aging.table)) {
    const last = await findLastAge(db, aging, partition)
    if (last === undefined) continue
    if (last === null || last > soon) break
    if (last > before) deferred.push(partition)
  }
  const [first] = deferred
  const final = deferred.at(-1)
  if (first === undefined || final === undefined) return sql`false`
  return isBetween(aging, first.lowerBound, final.upperBound)
}

/** The age of the last row; undefined where there is none. Ids are given out in the order of time, roughly. */
async function findLastAge(
  db: QueryExecutorProvider,
  aging: AgingTable,
  partition: Partition,
): Promise<Date | null | undefined> {
  const { rows } = await sql<{ age: Date | null }>`
    select ${sql.ref(`r.${aging.ageBy}`)} as age from ${sql.table(aging.table)} r
    where ${isIn(aging, partition)} order by ${sql.ref(`r.${aging.key}`)} desc limit 1`.execute(db)
  return rows[0]?.age
}

/** Whether nothing can come into an empty partition: ids behind it were used longer ago than any transaction takes. */
async function isLeft(
  db: QueryExecutorProvider,
  { table, key, ageBy }: AgingTable,
  { upperBound }: Partition,
): Promise<boolean> {
  const { rows } = await sql<{ isLeft: boolean | null }>`
    select ${sql.ref(`r.${ageBy}`)} <= now() - interval '1 day' as "isLeft" from ${sql.table(table)} r
    where ${sql.ref(`r.${key}`)} >= ${sql.lit(BigInt(upperBound))}
    order by ${sql.ref(`r.${key}`)} limit 1`.execute(db)
  return rows[0]?.isLeft === true
}

/** What an index has is looked for first: the rest reads the whole partition. */
async function isHeld(
  db: QueryExecutorProvider,
  aging: AgingTable,
  { within, when }: RowsEnd,
  partition: Partition,
  before: Date,
): Promise<boolean> {
  const age = sql.ref(`r.${aging.ageBy}`)
  const isOver = sql`${age} <= ${before} and ${toCondition(within, before)} and ${toCondition(when, before)}`
  const holds =
    aging.walk === 'age'
      ? [
          sql`${age} > ${before}`,
          sql`not (${toCondition(when, before)})`,
          sql`(${isOver}) is not true`,
        ]
      : [sql`(${isOver}) is not true`]
  const isAny = holds.map(
    (hold) => sql`exists (select from ${sql.table(aging.table)} r
      where ${isIn(aging, partition)} and ${hold})`,
  )
  const { rows } = await sql<{ isHeld: boolean }>`
    select ${sql.join(isAny, sql` or `)} as "isHeld"`.execute(db)
  return rows[0]?.isHeld !== false
}

async function countRows(
  db: QueryExecutorProvider,
  aging: AgingTable,
  partition: Partition,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from ${sql.table(aging.table)} r
    where ${isIn(aging, partition)}`.execute(db)
  return rows[0]?.count ?? 0
}

/** Gives up rather than wait where others would wait behind. */
async function tryToDrop<Tables>(
  db: Kysely<Tables>,
  table: string,
  partition: Partition,
): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    try {
      await dropPartition(db, table, partition)
      return true
    } catch (error) {
      if (!isTableInUse(error)) throw error
      if (tries === DROP_TRIES_MAX) return false
      await sleep(DROP_PAUSE_MS)
    }
  }
}

function isIn(aging: AgingTable, { lowerBound, upperBound }: Partition): RawBuilder<unknown> {
  return isBetween(aging, lowerBound, upperBound)
}

/** Bounds are part of the text: then the planner looks at no other partition. */
function isBetween(
  { key }: AgingTable,
  lowerBound: string | null,
  upperBound: string,
): RawBuilder<unknown> {
  const column = sql.ref(`r.${key}`)
  const isBehind =
    lowerBound === null ? sql`true` : sql`${column} >= ${sql.lit(BigInt(lowerBound))}`
  return sql`(${isBehind} and ${column} < ${sql.lit(BigInt(upperBound))})`
}
