import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import {
  clausesOf,
  type SearchClause,
  type SearchCombination,
  type SearchExpression,
  type SearchOperator,
} from './search-field.ts'

/**
 * Where a field lives in the database: a column, or a function for what no single column holds (an
 * `exists` over another table, for example), which may use `clauseToSql` on its inner column.
 */
export type SearchColumn =
  | Expression<unknown>
  | ((clause: SearchClause, use: ConditionUse, reach: KeyReach) => ClauseCondition)

/** The keys that rows are looked for among, for conditions that read another table. */
export interface KeyReach {
  /**
   * That a column is of these keys: it grows with them, and `of` makes of a key what the column has for it. Everything
   * else would be read in vain.
   */
  readonly has: (
    column: Expression<unknown>,
    of: (key: Expression<unknown>) => Expression<unknown>,
  ) => Expression<SqlBool>
  /** What likely rows were found by for a clause, to select from: nothing of these keys is left out. */
  readonly sharedOf: (clause: SearchClause) => RawBuilder<unknown> | undefined
}

/** Rows are looked for among all keys. */
const EVERY_KEY: KeyReach = { has: () => sql<SqlBool>`true`, sharedOf: () => undefined }

/**
 * What a condition is for: `compared` with rows that are read already, or for rows to be `found` by, where an index
 * of another table may help. On one side of an `or`, rows are `found apart`: PostgreSQL joins nothing there, and asks
 * an index for values that it has read before.
 */
export type ConditionUse = 'compared' | 'found' | 'found apart'

/**
 * What a clause means: a condition, or several of which a row meets one at most. Indexes answer each of
 * those by itself where they answer no condition that holds an `or`.
 */
export type ClauseCondition =
  Expression<SqlBool> | readonly (Expression<SqlBool> | DescribedCondition)[]

/** A part of a list; no row is in two parts of different names. */
export interface ListPart {
  readonly name: string
  readonly isIn: Expression<SqlBool>
}

/** A condition, and what is known of its rows. */
interface DescribedCondition {
  readonly condition: Expression<SqlBool>
  /**
   * The part of the list that they are in, which is a condition as well. It is said once of rows that meet several:
   * PostgreSQL expects less of whatever it is told twice.
   */
  readonly part?: ListPart
  /** Whether a time that is looked for is in another table: no summaries of pages of the list lead to that. */
  readonly isOfOtherTable?: boolean
}

/** A condition that only rows of a part of the list meet. */
export interface ConditionOfPart extends DescribedCondition {
  readonly part: ListPart
}

/** What rows meet that are in the part of a condition and meet it. */
export function inPart({ part, condition }: DescribedCondition): Expression<SqlBool> {
  return part === undefined ? condition : sql<SqlBool>`${part.isIn} and ${condition}`
}

/** The columns of a list by the canonical name of each field. */
export type SearchColumns = Readonly<Record<string, SearchColumn>>

/** The largest bigint; a larger number is the id of nothing, and an error to PostgreSQL. */
const BIGINT_MAX = 9_223_372_036_854_775_807n
const DECIMAL_ID = /^(?:0|[1-9]\d{0,18})$/

/**
 * The condition that an expression means. Values are bound parameters, never text of the statement.
 * Every field of the list needs a column: a missing one is a bug and throws.
 */
export function searchToSql(
  expression: SearchExpression,
  columns: SearchColumns,
  use: ConditionUse = 'compared',
  reach: KeyReach = EVERY_KEY,
): Expression<SqlBool> {
  if (expression.kind !== 'clause') {
    const { kind } = expression
    const useOfEach = use === 'found' && kind === 'or' ? 'found apart' : use
    const operands = expression.operands.map((each) => searchToSql(each, columns, useOfEach, reach))
    return sql<SqlBool>`(${sql.join(operands, kind === 'and' ? sql` and ` : sql` or `)})`
  }
  const alternatives = toAlternatives(expression, columns, use, reach).map(inPart)
  const [only] = alternatives
  if (only !== undefined && alternatives.length === 1) return only
  return sql<SqlBool>`(${sql.join(alternatives, sql` or `)})`
}

/** As many are looked for one by one: each is a query of its own. */
const ALTERNATIVES_MAX = 6

/** Of an `or` of more sides, these are looked for together. */
export const SIDES_MAX = 4

/** How rows are looked for. */
export interface SearchWay {
  readonly columns: SearchColumns
  readonly reach: KeyReach
  /** Whether an index answers a clause. */
  readonly isIndexed: (clause: SearchClause) => boolean
  /** Whether any row meets one of several clauses, where that is known sooner than which rows do. */
  readonly isPossible: (clause: SearchClause) => Expression<SqlBool> | undefined
}

/** A condition to find rows by, and what it stands for. */
export interface SearchAlternative extends DescribedCondition {
  /** What all of its rows are found by: of an `or`, one side. */
  readonly search: SearchExpression
}

/**
 * Conditions to find rows by, of which each row meets exactly one: several for clauses that mean several, alone or
 * with others that hold as well, and one for each side of an `or` where indexes answer all of them.
 */
export function searchToAlternatives(
  expression: SearchExpression,
  way: SearchWay,
): readonly SearchAlternative[] {
  const found = eachToAlternatives(expression, way).map((one) => ({
    ...one,
    condition: inPart(one),
  }))
  return expression.kind === 'clause' ? found : found.map((one) => ifPossible(one, way.isPossible))
}

function eachToAlternatives(
  expression: SearchExpression,
  way: SearchWay,
): readonly SearchAlternative[] {
  const { columns, reach } = way
  if (expression.kind === 'clause') {
    const alternatives = toAlternatives(expression, columns, 'found', reach)
    return alternatives.map((one) => ({ ...one, search: expression }))
  }
  if (expression.kind === 'or') return orToAlternatives(expression, way)
  return expression.operands.reduce<readonly SearchAlternative[]>(
    (found, operand) => {
      const each = combine(found, eachToAlternatives(operand, way))
      if (each.length <= ALTERNATIVES_MAX) return each
      const condition = searchToSql(operand, columns, 'found apart', reach)
      return combine(found, [{ condition, search: operand }])
    },
    [{ condition: sql<SqlBool>`true`, search: { kind: 'and', operands: [] } }],
  )
}

/** Each of these with each of those, but for pairs that no row meets. */
function combine(
  these: readonly SearchAlternative[],
  those: readonly SearchAlternative[],
): readonly SearchAlternative[] {
  return these.flatMap((one) =>
    those
      .filter(({ part = one.part }) => one.part === undefined || part?.name === one.part.name)
      .map((other) => ({
        condition: sql<SqlBool>`${one.condition} and ${other.condition}`,
        search: { kind: 'and', operands: [one.search, other.search] },
        isOfOtherTable: one.isOfOtherTable === true || other.isOfOtherTable === true,
        ...toPart(one.part ?? other.part),
      })),
  )
}

function toPart(part: ListPart | undefined) {
  return part === undefined ? {} : { part }
}

/** A row that meets several sides of an `or` is found by the first of them. */
function orToAlternatives(
  expression: SearchCombination,
  way: SearchWay,
): readonly SearchAlternative[] {
  const { operands } = expression
  const condition = searchToSql(expression, way.columns, 'found', way.reach)
  const together = [{ condition, search: expression }]
  if (operands.length > SIDES_MAX || !clausesOf(expression).every(way.isIndexed)) {
    return together
  }
  const found = operands.flatMap((operand, index) => {
    const isOther = operands
      .slice(0, index)
      .map((former) => sql`(${searchToSql(former, way.columns)}) is not true`)
    return eachToAlternatives(operand, way).map((one) => ({
      ...one,
      condition: sql<SqlBool>`${sql.join([one.condition, ...isOther], sql` and `)}`,
    }))
  })
  return found.length > ALTERNATIVES_MAX ? together : found
}

/** What rows are found by, which are not looked for where none can meet it. */
function ifPossible(
  one: SearchAlternative,
  isPossible: SearchWay['isPossible'],
): SearchAlternative {
  const known = searchToPossible(one.search, isPossible)
  if (known === undefined) return one
  return { ...one, condition: sql<SqlBool>`${known} and ${one.condition}` }
}

/** Whether any row may meet an expression, where that is known of one in an `and`, or of each side of an `or`. */
function searchToPossible(
  expression: SearchExpression,
  isPossible: SearchWay['isPossible'],
): Expression<SqlBool> | undefined {
  if (expression.kind === 'clause') return isPossible(expression)
  const { kind, operands } = expression
  const known = operands
    .map((operand) => searchToPossible(operand, isPossible))
    .filter((one) => one !== undefined)
  const isKnown = kind === 'and' ? known.length > 0 : known.length === operands.length
  if (!isKnown) return undefined
  return sql<SqlBool>`(${sql.join(known, kind === 'and' ? sql` and ` : sql` or `)})`
}

function toAlternatives(
  clause: SearchClause,
  columns: SearchColumns,
  use: ConditionUse,
  reach: KeyReach,
): readonly DescribedCondition[] {
  const column = columns[clause.field.name]
  if (column === undefined) throw new Error(`no column for the field ${clause.field.name}`)
  const condition =
    typeof column === 'function' ? column(clause, use, reach) : clauseToSql(column, clause)
  const conditions = 'toOperationNode' in condition ? [condition] : condition
  return conditions.map((one) => ('toOperationNode' in one ? { condition: one } : one))
}

/** A row of another table that a foreign key of the list names. */
export interface Reference {
  /** The foreign key, as `issue.device_id`. */
  readonly by: string
  /** The other table, whose primary key is `id`. */
  readonly table: string
}

/** A field that is a column of the row that each row of the list refers to. */
export function referencedField({ by, table }: Reference, column: Expression<unknown>) {
  return (clause: SearchClause): Expression<SqlBool> => sql<SqlBool>`exists (
    select from ${sql.table(table)}
    where ${sql.ref(`${table}.id`)} = ${sql.ref(by)} and ${clauseToSql(column, clause)})`
}

/**
 * A field that is a foreign key itself. Some of its digits are looked for in the table that it refers to,
 * which has fewer rows than the list and an index for it.
 */
export function foreignKeyField(reference: Reference) {
  const hasDigits = referencedField(reference, sql.ref(`${reference.table}.id`))
  return (clause: SearchClause): Expression<SqlBool> =>
    clause.operator === '~' ? hasDigits(clause) : clauseToSql(sql.ref(reference.by), clause)
}

/** Whether trigram indexes answer a part of a text. */
export function isIndexedPart(part: string): boolean {
  return [...part].length > 2 || BEGINNING.test(part)
}

/** The condition that a clause means for a column of the type of its field. */
export function clauseToSql(
  column: Expression<unknown>,
  clause: SearchClause,
): Expression<SqlBool> {
  if (clause.operator === '~') return containsText(column, clause)
  if (clause.field.type === 'id') return equalsId(column, clause)
  const [value, ...others] = clause.values
  if (clause.field.type === 'timestamp') return compareTime(column, clause.operator, value)
  if (others.length === 0) return sql<SqlBool>`${column} ${comparison(clause.operator)} ${value}`
  return sql<SqlBool>`${column} in (${sql.join(clause.values)})`
}

/** The condition that a time is before or after another one, or in its millisecond: answers show no more. */
export function compareTime(
  column: Expression<unknown>,
  operator: Exclude<SearchOperator, '~'>,
  time: unknown,
): RawBuilder<SqlBool> {
  if (operator !== ':') return sql<SqlBool>`${column} ${comparison(operator)} ${time}`
  return sql<SqlBool>`(${column} >= ${time} and ${column} < ${time}::timestamptz + interval '1 millisecond')`
}

/** The condition that a text contains a part. Ids are compared by their decimal text. */
function containsText(column: Expression<unknown>, clause: SearchClause): Expression<SqlBool> {
  const part = String(clause.values[0])
  // Nothing but a digit is in an id.
  if (clause.field.type === 'id' && /\D/.test(part)) return sql<SqlBool>`false`
  if (clause.field.type !== 'text') return sql<SqlBool>`${column}::text ilike ${toPattern(part)}`
  // Trigram indexes answer `ilike` from three characters on. Of fewer, `like` takes half the time.
  if ([...part].length > 2) return sql<SqlBool>`${column} ilike ${toPattern(part)}`
  const isAscii = /^[\x20-\x7e]*$/.test(part)
  const text = BEGINNING.test(part) ? column : withoutIndex(column, isAscii)
  if (!isAscii) return sql<SqlBool>`${text} ilike ${toPattern(part)}`
  const patterns = spellings(part).map((spelling) => sql`${text} like ${toPattern(spelling)}`)
  return sql<SqlBool>`(${sql.join(patterns, sql` or `)})`
}

/** The condition that a text which is in lower case contains a part, in any case. */
export function lowerTextContains(column: Expression<unknown>, part: string): RawBuilder<SqlBool> {
  const text = isIndexedPart(part) ? column : withoutIndex(column, true)
  return sql<SqlBool>`${text} like lower(${toPattern(part)})`
}

/** The beginning of a word, which trigram indexes answer. */
const BEGINNING = /[^\p{L}\p{N}][\p{L}\p{N}]/u

/**
 * All entries of a trigram index would be read before all rows are: it has none in another collation, or for an
 * expression.
 */
function withoutIndex(column: Expression<unknown>, isAscii: boolean): Expression<unknown> {
  return isAscii ? sql`(${column}) collate "C"` : sql`((${column}) || '')`
}

/** The pattern of LIKE for a part of a text. */
export function toPattern(part: string): string {
  return `%${escapeLikePattern(part)}%`
}

/** A text of ASCII characters with each of its letters in both cases. */
function spellings(text: string): string[] {
  return [...text].reduce<string[]>(
    (beginnings, character) =>
      [...new Set([character.toLowerCase(), character.toUpperCase()])].flatMap((spelling) =>
        beginnings.map((beginning) => beginning + spelling),
      ),
    [''],
  )
}

/** A text that is no id equals none, instead of being an error of the database. */
function equalsId(column: Expression<unknown>, clause: SearchClause): Expression<SqlBool> {
  const ids = clause.values.map(String).filter(isBigintText)
  return ids.length === 0 ? sql<SqlBool>`false` : sql<SqlBool>`${column} in (${sql.join(ids)})`
}

function isBigintText(text: string): boolean {
  return DECIMAL_ID.test(text) && BigInt(text) <= BIGINT_MAX
}

function comparison(operator: Exclude<SearchOperator, '~'>) {
  switch (operator) {
    case ':':
      return sql`=`
    case '>':
      return sql`>`
    case '<':
      return sql`<`
  }
}

/** The text with the characters that LIKE gives a meaning to taken literally. */
export function escapeLikePattern(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
