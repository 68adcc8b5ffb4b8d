import type {
  SearchClause,
  SearchExpression,
  SearchValue,
} from '../../src/platform/search/search-field.ts'

/** The searchable values of a record by the canonical name of each field; a list matches by any item. */
export type SearchableRecord = Readonly<
  Record<string, SearchValue | null | undefined | readonly SearchValue[]>
>

/**
 * Whether a record meets an expression. The plain meaning of the language, for lists that live in
 * memory and as the yardstick of the translation to SQL. An absent value meets no clause.
 */
export function evaluateSearch(expression: SearchExpression, record: SearchableRecord): boolean {
  switch (expression.kind) {
    case 'and':
      return expression.operands.every((operand) => evaluateSearch(operand, record))
    case 'or':
      return expression.operands.some((operand) => evaluateSearch(operand, record))
    case 'clause':
      return meetsClause(expression, record[expression.field.name])
  }
}

function meetsClause(
  clause: SearchClause,
  actual: SearchValue | null | undefined | readonly SearchValue[],
): boolean {
  if (actual === null || actual === undefined) return false
  const candidates = isList(actual) ? actual : [actual]
  return candidates.some((candidate) =>
    clause.values.some((value) => compare(clause, candidate, value)),
  )
}

function isList(value: SearchValue | readonly SearchValue[]): value is readonly SearchValue[] {
  return Array.isArray(value)
}

function compare(clause: SearchClause, actual: SearchValue, wanted: SearchValue): boolean {
  switch (clause.operator) {
    case ':':
      return comparable(actual) === comparable(wanted)
    case '~':
      return String(actual).toLowerCase().includes(String(wanted).toLowerCase())
    case '>':
      return comparable(actual) > comparable(wanted)
    case '<':
      return comparable(actual) < comparable(wanted)
  }
}

function comparable(value: SearchValue): string | number | boolean {
  return value instanceof Date ? value.getTime() : value
}
