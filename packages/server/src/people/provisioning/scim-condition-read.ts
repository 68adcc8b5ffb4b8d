import { sql, type Expression, type SqlBool } from 'kysely'
import { escapeLikePattern } from '../../platform/search/search-to-sql.ts'
import { bindFilter, type BoundFilter, type BoundOperator } from './bind-filter.ts'
import { badRequest } from './scim-error.ts'
import { parseScimFilter } from './scim-filter.ts'
import type { ScimResourceType } from './scim-schema.ts'

/** Where an attribute lives in the database. */
export interface ScimColumn {
  readonly expression: Expression<unknown>
  /** A bigint that is compared as its decimal text. */
  readonly isId?: boolean
  /** How a text is found in any case where no index has `expression`. */
  readonly equals?: (value: string) => Expression<SqlBool>
}

/** Where the values of a multi-valued attribute live. */
export interface ScimCollection {
  readonly columns: Readonly<Record<string, ScimColumn>>
  /** The condition that some value meets a condition over `columns`. */
  readonly exists: (condition: Expression<SqlBool>) => Expression<SqlBool>
}

/** The places of all attributes that can be filtered by, under the keys of bound filters. */
export interface ScimColumns {
  readonly columns: Readonly<Record<string, ScimColumn>>
  readonly collections: Readonly<Record<string, ScimCollection>>
}

/**
 * The condition that a filter means for resources of a type, which null does not meet. Without a filter
 * it is always true. Values are bound parameters. A comparison for equality stands as indexes know it. Attributes of
 * `others`, the types that are searched beside this one, have no value.
 *
 * @throws ScimError `invalidFilter`, also for an attribute that is in no column
 */
export function toCondition(
  type: ScimResourceType,
  filter: string | undefined,
  columns: ScimColumns,
  others: readonly ScimResourceType[] = [],
): Expression<SqlBool> {
  if (filter === undefined) return sql<SqlBool>`true`
  return filterToSql(bindFilter(parseScimFilter(filter), { ...type, others }), columns)
}

function filterToSql(filter: BoundFilter, places: ScimColumns): Expression<SqlBool> {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const operands = filter.operands.map((operand) => filterToSql(operand, places))
      if (operands.length === 0) return sql<SqlBool>`${sql.lit(filter.kind === 'and')}`
      const separator = filter.kind === 'and' ? sql` and ` : sql` or `
      return sql<SqlBool>`(${sql.join(operands, separator)})`
    }
    case 'not':
      // What an absent attribute makes null is not met either, whatever `and` and `or` are around it.
      return sql<SqlBool>`(${filterToSql(filter.operand, places)} is not true)`
    case 'present':
      return sql<SqlBool>`(${columnOf(places, filter.key).expression} is not null)`
    case 'compare':
      return compareToSql(columnOf(places, filter.key), filter)
    case 'some': {
      const collection = places.collections[filter.key]
      if (collection === undefined) throw notFilterable(filter.key)
      const inner = { columns: collection.columns, collections: {} }
      return collection.exists(
        filter.condition === undefined ? sql<SqlBool>`true` : filterToSql(filter.condition, inner),
      )
    }
  }
}

type Comparison = Extract<BoundFilter, { kind: 'compare' }>

function compareToSql(column: ScimColumn, comparison: Comparison): Expression<SqlBool> {
  return sql<SqlBool>`(${compareNullable(column, comparison)})`
}

const DECIMAL_ID = /^[1-9]\d{0,17}$/

function compareNullable(column: ScimColumn, comparison: Comparison): Expression<SqlBool> {
  const { operator, value, caseExact } = comparison
  if (column.isId === true && operator === 'eq') {
    return DECIMAL_ID.test(String(value))
      ? sql<SqlBool>`${column.expression} = ${value}::bigint`
      : sql<SqlBool>`false`
  }
  const expression = column.isId === true ? sql`${column.expression}::text` : column.expression
  if (typeof value !== 'string') return sql<SqlBool>`${expression} ${sign(operator)} ${value}`
  const pattern = toPattern(operator, escapeLikePattern(value))
  if (pattern !== undefined) {
    return caseExact
      ? sql<SqlBool>`${expression} like ${pattern}`
      : sql<SqlBool>`${expression} ilike ${pattern}`
  }
  if (operator === 'eq') {
    if (column.equals !== undefined) return column.equals(value)
    return caseExact
      ? sql<SqlBool>`${expression} = ${value}`
      : sql<SqlBool>`lower(${expression}) = lower(${value})`
  }
  return caseExact
    ? sql<SqlBool>`${expression} collate "C" ${sign(operator)} ${value}`
    : sql<SqlBool>`lower(${expression}) collate "C" ${sign(operator)} lower(${value})`
}

function toPattern(operator: BoundOperator, text: string): string | undefined {
  switch (operator) {
    case 'co':
      return `%${text}%`
    case 'sw':
      return `${text}%`
    case 'ew':
      return `%${text}`
    default:
      return undefined
  }
}

function sign(operator: BoundOperator) {
  switch (operator) {
    case 'gt':
      return sql`>`
    case 'ge':
      return sql`>=`
    case 'lt':
      return sql`<`
    case 'le':
      return sql`<=`
    default:
      return sql`=`
  }
}

function columnOf(places: ScimColumns, key: string): ScimColumn {
  const column = places.columns[key]
  if (column === undefined) throw notFilterable(key)
  return column
}

function notFilterable(key: string): Error {
  return badRequest('invalidFilter', `"${key}" cannot be filtered by.`)
}
