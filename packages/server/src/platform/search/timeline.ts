/*
 * Where along the key of a list the times of a search lie. Without it, the entries of the last week are
 * found behind a walk over the years before. Exact whatever the times are; quick where they grow with
 * the key.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { PageWindow } from '../db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import type { SearchClause, SearchExpression } from './search-field.ts'
import type { SearchedList } from './searched-list.ts'

/** A stretch of the key: rows after `after` up to `last`, without an end where undefined. */
export interface KeyRange {
  readonly after: string | undefined
  readonly last: string | undefined
  /** How many rows it has at most; undefined for no bound. */
  readonly rows: number | undefined
}

/** Rows that one entry of a timeline stands for; a part of the indexes, so that it cannot change. */
const ZONE_ROWS = 4_096n

/**
 * The stretches outside of which nothing matches, in the order of the key; the whole rest of the list
 * where the search asks for no time of a timeline.
 */
export async function findKeyRanges(
  db: Kysely<Schema>,
  list: SearchedList,
  search: SearchExpression,
  { afterId }: PageWindow,
): Promise<KeyRange[]> {
  const conditions = requiredClauses(search).flatMap((clause) => {
    const column = list.timelines?.[clause.field.name]
    return column === undefined ? [] : [hasTimeInZone(list, column, clause)]
  })
  if (conditions.length === 0) return [{ after: afterId, last: undefined, rows: undefined }]
  const rows = sql.lit(Number(ZONE_ROWS))
  const zones = await sql<{ number: string }>`
    select number from generate_series(${afterId ?? '0'}::bigint / ${rows},
      (select max(${sql.ref(list.key)}) from ${sql.table(list.table)}) / ${rows}) as zone(number)
    where ${sql.join(conditions, sql` and `)}
    order by number`.execute(db)
  return toRanges(
    zones.rows.map(({ number }) => BigInt(number)),
    afterId,
  )
}

/**
 * By the first or last entry of a zone: the only way to ask that takes one step in the index. Compared as
 * pairs: with "=", the order of the time alone would do, and an index of the time be walked.
 */
function hasTimeInZone(
  { table, key }: SearchedList,
  column: string,
  clause: SearchClause,
): RawBuilder<unknown> {
  const zone = sql`${sql.ref(`${table}.${key}`)} / ${sql.lit(Number(ZONE_ROWS))}`
  const time = sql.ref(`${table}.${column}`)
  const [direction, comparison] = clause.operator === '>' ? ['desc', '>'] : ['asc', '<']
  return sql`(
    select ${time} from ${sql.table(table)}
    where (${zone}, ${time}) > (zone.number, '-infinity'::timestamptz)
      and (${zone}, ${time}) < (zone.number, 'infinity'::timestamptz)
    order by ${zone} ${sql.raw(direction)}, ${time} ${sql.raw(direction)} limit 1
  ) ${sql.raw(comparison)} ${clause.values[0]}`
}

/** Neighbouring zones are one stretch. */
function toRanges(zones: readonly bigint[], afterId: string | undefined): KeyRange[] {
  const stretches: { first: bigint; end: bigint }[] = []
  for (const zone of zones) {
    const previous = stretches.at(-1)
    if (previous?.end === zone) previous.end += 1n
    else stretches.push({ first: zone, end: zone + 1n })
  }
  return stretches.map(({ first, end }) => {
    const begin = first * ZONE_ROWS - 1n
    const after = afterId !== undefined && BigInt(afterId) > begin ? afterId : String(begin)
    return {
      after,
      last: String(end * ZONE_ROWS - 1n),
      rows: Number((end - first) * ZONE_ROWS),
    }
  })
}

/** The clauses without which nothing matches. */
function requiredClauses(expression: SearchExpression): SearchClause[] {
  switch (expression.kind) {
    case 'clause':
      return [expression]
    case 'and':
      return expression.operands.flatMap(requiredClauses)
    case 'or':
      return []
  }
}
