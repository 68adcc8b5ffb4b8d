/**
 * What a list can be searched by: the fields of its `query` parameter, their types and the operators
 * that each takes. One array per list, used to parse, to document and to translate.
 */
export type SearchOperator = ':' | '~' | '>' | '<'

export type SearchFieldType = 'text' | 'id' | 'timestamp' | 'boolean' | 'enum' | 'integer'

export interface SearchField {
  /** The name that the documentation shows and that the parsed clauses carry. */
  readonly name: string
  /** Older names of the field, which work as well. */
  readonly aliases?: readonly string[]
  readonly type: SearchFieldType
  readonly operators: readonly SearchOperator[]
  /** Whether `:` takes a list of values. */
  readonly list?: boolean
  /** The values of an `enum`; they are recognised in any case. */
  readonly values?: readonly string[]
}

/** A value in the type of its field: ids, texts and enum words are strings. */
export type SearchValue = string | number | boolean | Date

/** One comparison. Several values mean: equal to any of them. */
export interface SearchClause {
  readonly kind: 'clause'
  readonly field: SearchField
  readonly operator: SearchOperator
  readonly values: readonly [SearchValue, ...SearchValue[]]
}

export interface SearchCombination {
  readonly kind: 'and' | 'or'
  readonly operands: readonly SearchExpression[]
}

export type SearchExpression = SearchClause | SearchCombination

/** `name (: ~)`, for messages and documentation. */
export function describeSearchFields(fields: readonly SearchField[]): string {
  return fields.map((field) => `${field.name} (${field.operators.join(' ')})`).join(', ')
}

/** The comparisons of a search, in its order. */
export function clausesOf(expression: SearchExpression): SearchClause[] {
  return expression.kind === 'clause' ? [expression] : expression.operands.flatMap(clausesOf)
}

/** The clauses that all matches of a search meet. */
export function clausesOfAll(search: SearchExpression): readonly SearchClause[] {
  if (search.kind === 'clause') return [search]
  return search.kind === 'and' ? search.operands.flatMap(clausesOfAll) : []
}

/** The one of these clauses that asks for what is before the earliest time. */
export function earliestBefore(clauses: readonly SearchClause[]): SearchClause | undefined {
  const timeOf = ({ values: [time] }: SearchClause) => new Date(String(time)).getTime()
  return clauses
    .filter(({ field, operator }) => field.type === 'timestamp' && operator === '<')
    .toSorted((one, other) => timeOf(one) - timeOf(other))[0]
}
