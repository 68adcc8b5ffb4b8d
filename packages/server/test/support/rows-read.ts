/* How many rows of a table a read reads, such as a page of a searched list, by what PostgreSQL did for it. */
import { Kysely, PostgresDialect, type CompiledQuery, type Expression, type SqlBool } from 'kysely'
import { parseSearch } from '../../src/platform/search/parse-search.ts'
import type { PageWindow } from '../../src/platform/db/page.ts'
import type { RecordList } from '../../src/platform/search/record-list.ts'
import type { TestDatabase } from './database.ts'

export interface RowsRead<Schema, Row extends object> {
  readonly list: RecordList<Schema, Row>
  readonly search: string
  readonly window: PageWindow
  /** What holds for the rows of the page beside the scope of the list. */
  readonly scope?: Expression<SqlBool>
  /** Whose rows are counted; the table of the list when left out. */
  readonly table?: string
}

interface PlanNode {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly PlanNode[]
}

/** How many rows of a table the statement of a page of a list reads, those that it reads twice counted twice. */
export async function countRowsRead<Schema, Row extends object>(
  database: TestDatabase,
  { list, search, window, scope, table = list.table }: RowsRead<Schema, Row>,
): Promise<number> {
  return countRowsOf<Schema>(database, table, (db) =>
    list.listPage(db, { search: parseSearch(search, list.fields), window, scope }),
  )
}

/** How many rows of a table the first statement of a read reads. */
export async function countRowsOf<Schema>(
  { pool }: TestDatabase,
  table: string,
  read: (db: Kysely<Schema>) => Promise<unknown>,
): Promise<number> {
  const queries: CompiledQuery[] = []
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void queries.push(query),
  })
  await read(db)
  const [query] = queries
  if (query === undefined) throw new Error('nothing was read by a statement')
  const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (analyze, format json) ${query.sql}`,
    [...query.parameters],
  )
  const plan = rows[0]?.['QUERY PLAN'][0].Plan
  if (plan === undefined) throw new Error('PostgreSQL explained nothing')
  return countRows(plan, table)
}

function countRows(node: PlanNode, table: string): number {
  // Partitions have the name of their table with a number.
  const isOwn = node['Relation Name']?.replace(/_\d+$/, '') === table
  const own = isOwn
    ? node['Actual Loops'] *
      (node['Actual Rows'] +
        (node['Rows Removed by Filter'] ?? 0) +
        (node['Rows Removed by Index Recheck'] ?? 0))
    : 0
  return (node.Plans ?? []).reduce((sum, each) => sum + countRows(each, table), own)
}
