/*
 * Conditions that follow from a clause and that an index answers where the clause itself has none: a
 * part of a text, a text that equals, the digits of an id. They can find too much but never too little,
 * and are added to the clause unless they mean exactly the same.
 */
import { sql, type Expression, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { clausesOf, type SearchClause, type SearchExpression } from './search-field.ts'
import { clauseToSql, escapeLikePattern } from './search-to-sql.ts'
import { findGramCondition, type GramIndex } from './text-grams.ts'

/**
 * What is indexed of a field beside its own column:
 *
 * - `values`: few different texts. A btree of `(left(column, 64), key)`; a substring is looked for in
 *   the different values, which are read one by one from that index.
 * - `values and trigrams`: the same and a trigram index, for texts that are often few but may be many.
 * - `grams`: different texts. A GIN index of `text_grams(column)`.
 * - `references`: an id of a row of another table, by foreign key. A btree of the column; digits are
 *   looked for in that table.
 * - `of`: a column of another table that the list is joined to, indexed there; `by` is the foreign key,
 *   which has an index of its own.
 * - `json`: a member of the `jsonb` column, all of whose values are texts. A GIN index of
 *   `member_grams(scopedBy, json)`; `scope` is what the column `scopedBy` holds in every row of the list.
 */
export type FieldIndex =
  | 'values'
  | 'values and trigrams'
  | 'grams'
  | { readonly references: string }
  | OtherColumn
  | JsonMember

interface OtherColumn {
  readonly of: string
  readonly column: string
  readonly by: string
  /** How that column is indexed where a trigram index is not what it has. */
  readonly index?: 'grams'
}

interface JsonMember {
  readonly json: string
  readonly member: string
  readonly scopedBy: string
  readonly scope: string
}

/** By the name of the field. */
export type FieldIndexes = Readonly<Record<string, FieldIndex>>

/** Some rows of the list, as an item of `from` under the name of its table. */
export type RowSample = (rows: number) => RawBuilder<unknown>

/** The beginning of a text that is indexed: a whole one could be larger than an index entry may be. */
const INDEXED_LENGTH = 64

/** Of fewer than three letters or digits in a row, `pg_trgm` knows nothing. */
const TRIGRAM = /[\p{L}\p{N}]{3}/u

/** What an index answers of a clause. */
export interface IndexCondition {
  readonly condition: Expression<SqlBool>
  /** Whether it stands for the clause, which then need not be asked. */
  readonly isExact: boolean
}

interface IndexedList {
  readonly table: string
  readonly indexes?: FieldIndexes
}

/**
 * The conditions that indexes answer, by the clauses of a search that they follow from. The sample tells
 * which of several are worth asking for, and nothing of what they find.
 */
export async function findIndexConditions(
  db: Kysely<Schema>,
  { table, indexes = {} }: IndexedList,
  search: SearchExpression,
  sample: RowSample,
): Promise<Map<SearchClause, IndexCondition>> {
  const conditions = new Map<SearchClause, IndexCondition>()
  for (const clause of clausesOf(search)) {
    const index = indexes[clause.field.name]
    const condition = index && (await findIndexCondition({ db, table, sample }, index, clause))
    const isExact = typeof index === 'object' && 'of' in index
    if (condition !== undefined) conditions.set(clause, { condition, isExact })
  }
  return conditions
}

interface Source {
  readonly db: Kysely<Schema>
  readonly table: string
  readonly sample: RowSample
}

async function findIndexCondition(
  source: Source,
  index: FieldIndex,
  clause: SearchClause,
): Promise<Expression<SqlBool> | undefined> {
  const { db, table, sample } = source
  const column = sql.ref(`${table}.${clause.field.name}`)
  if (index === 'grams') return findGramCondition(db, toGramIndex(column, sample), clause)
  if (typeof index === 'object') {
    if ('of' in index) return isOfMatch(source, index, clause)
    if ('json' in index) return findGramCondition(db, toMemberIndex(source, index), clause)
    return clause.operator === '~' ? isIdWithDigits(column, index.references, clause) : undefined
  }
  const text = String(clause.values[0])
  if (clause.operator === ':') return sql<SqlBool>`${beginning(column)} = ${beginning(text)}`
  if (index === 'values and trigrams' && TRIGRAM.test(text)) return undefined
  const values = await listBeginnings(db, table, clause)
  return values.length === 0
    ? sql<SqlBool>`false`
    : sql<SqlBool>`${beginning(column)} in (${sql.join(values)})`
}

function toGramIndex(column: RawBuilder<unknown>, sample: RowSample): GramIndex {
  return { text: column, grams: sql`text_grams(${column})`, sample }
}

function toMemberIndex(
  { table, sample }: Source,
  { json, member, scopedBy, scope }: JsonMember,
): GramIndex {
  const [members, scopes] = [sql.ref(`${table}.${json}`), sql.ref(`${table}.${scopedBy}`)]
  return {
    text: sql`(${members}->>${member})`,
    grams: sql`member_grams(${scopes}, ${members})`,
    tag: sql`hashtextextended(${member}, hashtextextended(${scope}, 0))`,
    sample,
  }
}

/** The beginnings of the values that a search for nothing else than a field of few values can find. */
export interface ValueSearch {
  /** What the index holds of a row. */
  readonly value: RawBuilder<unknown>
  readonly values: readonly string[]
}

/**
 * The values to look for when the whole search is one clause about a field of few values: the rows of
 * each are in the index in the order of the key. Undefined for other searches, and for so many values
 * that it does not pay.
 */
export async function findValueSearch(
  db: Kysely<Schema>,
  { table, indexes = {} }: IndexedList,
  search: SearchExpression,
): Promise<ValueSearch | undefined> {
  if (search.kind !== 'clause') return undefined
  const index = indexes[search.field.name]
  if (index !== 'values' && index !== 'values and trigrams') return undefined
  const values =
    search.operator === ':'
      ? [Array.from(String(search.values[0])).slice(0, INDEXED_LENGTH).join('')]
      : await listBeginnings(db, table, search)
  if (values.length > VALUES_MERGED_MAX) return undefined
  return { value: beginning(sql.ref(`${table}.${search.field.name}`)), values }
}

/** Of each value, as many rows as a page has are read. */
const VALUES_MERGED_MAX = 200

/**
 * The different beginnings that contain a text or may go on with it, found by asking the index for the
 * next larger one, time and again. Asked beforehand: the planner knows how frequent given values are,
 * but takes those of a subquery for most of the table.
 */
async function listBeginnings(
  db: Kysely<Schema>,
  table: string,
  clause: SearchClause,
): Promise<string[]> {
  const from = sql.table(table)
  const value = beginning(sql.ref(`${table}.${clause.field.name}`))
  const pattern = toPattern(String(clause.values[0]))
  const { rows } = await sql<{ value: string }>`
    with recursive different(value) as (
      (select ${value} from ${from} where ${value} is not null order by ${value} limit 1)
      union all
      select (select ${value} from ${from} where ${value} > different.value order by ${value} limit 1)
      from different where different.value is not null
    )
    select value from different
    where value ilike ${pattern} or length(value) = ${sql.lit(INDEXED_LENGTH)}`.execute(db)
  return rows.map((row) => row.value)
}

function isIdWithDigits(
  column: Expression<unknown>,
  table: string,
  clause: SearchClause,
): Expression<SqlBool> {
  const isMatch = clauseToSql(sql.ref('referenced.id'), clause)
  return sql<SqlBool>`${column} = any(array(
    select referenced.id from ${sql.table(table)} as referenced where ${isMatch}))`
}

async function isOfMatch(
  { db, table }: Source,
  { of, column, by, index }: OtherColumn,
  clause: SearchClause,
): Promise<Expression<SqlBool>> {
  const [from, text] = [sql.table(of), sql.ref(`${of}.${column}`)]
  const isMatch = clauseToSql(text, clause)
  const sample: RowSample = (rows) =>
    sql`(select * from ${from} order by id limit ${sql.lit(rows)}) as ${from}`
  const indexed =
    index === 'grams' ? await findGramCondition(db, toGramIndex(text, sample), clause) : undefined
  const { rows } = await sql<{ id: string }>`
    select ${sql.ref(`${of}.id`)}::text as id from ${from}
    where ${indexed === undefined ? isMatch : sql`${indexed} and (${isMatch}) is true`}`.execute(db)
  return sql<SqlBool>`${sql.ref(`${table}.${by}`)} = any(${rows.map(({ id }) => id)}::bigint[])`
}

function beginning(text: unknown) {
  return sql`left(${text}, ${sql.lit(INDEXED_LENGTH)})`
}

function toPattern(text: string): string {
  return `%${escapeLikePattern(text)}%`
}
