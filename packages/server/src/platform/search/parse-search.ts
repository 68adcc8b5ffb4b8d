/**
 * The language of the `query` parameter: `field<operator>value` clauses joined with AND and OR, where
 * AND binds tighter, and parentheses. Text in, checked expression out; nothing here knows a database.
 */
import { AppError } from '../app-error.ts'
import {
  describeSearchFields,
  type SearchClause,
  type SearchExpression,
  type SearchField,
  type SearchOperator,
  type SearchValue,
} from './search-field.ts'
import { SearchScanner } from './search-scanner.ts'
import { readSearchValue } from './search-value.ts'

export const SEARCH_BYTES_MAX = 4_096
export const SEARCH_CLAUSES_MAX = 50
export const SEARCH_DEPTH_MAX = 10

const BINDING_POWER = { or: 1, and: 2 } as const

/**
 * The expression that a search text stands for; `undefined` for a blank one, which searches nothing.
 *
 * @throws AppError `invalid_search` with the position and what is allowed: syntax, unknown field,
 * operator or value that the field does not take, or a limit exceeded.
 */
export function parseSearch(
  text: string,
  fields: readonly SearchField[],
): SearchExpression | undefined {
  if (text.trim() === '') return undefined
  if (Buffer.byteLength(text) > SEARCH_BYTES_MAX) {
    throw new AppError('invalid_search', `The search is longer than ${SEARCH_BYTES_MAX} bytes.`)
  }
  const scanner = new SearchScanner(text)
  const nul = text.indexOf('\0')
  if (nul !== -1) throw scanner.refuse('the null character cannot be searched', nul)
  return new SearchParser(scanner, fields).parse()
}

/** A Pratt parser: operands are clauses and groups, and connectives bind by their power. */
class SearchParser {
  readonly #scanner: SearchScanner
  readonly #fields: readonly SearchField[]
  #depth = 0
  #clauses = 0

  constructor(scanner: SearchScanner, fields: readonly SearchField[]) {
    this.#scanner = scanner
    this.#fields = fields
  }

  parse(): SearchExpression {
    const expression = this.#parseExpression(0)
    if (!this.#scanner.isAtEnd) {
      throw this.#scanner.refuse(
        'AND or OR is missing',
        this.#scanner.position,
        'Put values that hold spaces in double quotes.',
      )
    }
    return expression
  }

  #parseExpression(power: number): SearchExpression {
    let left = this.#parseOperand()
    for (;;) {
      const connective = this.#scanner.peekConnective()
      if (connective === undefined || BINDING_POWER[connective] <= power) return left
      this.#scanner.takeConnective()
      left = combine(connective, left, this.#parseExpression(BINDING_POWER[connective]))
    }
  }

  #parseOperand(): SearchExpression {
    const start = this.#scanner.position
    if (!this.#scanner.takeCharacter('(')) return this.#parseClause(start)
    this.#depth += 1
    if (this.#depth > SEARCH_DEPTH_MAX) {
      throw this.#scanner.refuse(`parentheses nest at most ${SEARCH_DEPTH_MAX} deep`, start)
    }
    const inner = this.#parseExpression(0)
    if (!this.#scanner.takeCharacter(')')) {
      throw this.#scanner.refuse('AND, OR or ")" is missing', this.#scanner.position)
    }
    this.#depth -= 1
    return inner
  }

  #parseClause(start: number): SearchClause {
    this.#clauses += 1
    if (this.#clauses > SEARCH_CLAUSES_MAX) {
      throw this.#scanner.refuse(`a search holds at most ${SEARCH_CLAUSES_MAX} clauses`, start)
    }
    const field = this.#takeField(start)
    const operator = this.#takeOperator(field)
    const valueStart = this.#scanner.position
    const texts = this.#takeValueTexts(field, operator)
    const [first, ...others] = texts
    return {
      kind: 'clause',
      field,
      operator,
      values: [
        this.#readValue(field, operator, first, valueStart),
        ...others.map((text) => this.#readValue(field, operator, text, valueStart)),
      ],
    }
  }

  #takeField(start: number): SearchField {
    const name = this.#scanner.takeName()
    if (name === undefined) throw this.#scanner.refuse('a field is missing', start, this.#hint())
    const field = this.#fields.find(
      (candidate) => candidate.name === name || candidate.aliases?.includes(name) === true,
    )
    if (field !== undefined) return field
    throw this.#scanner.refuse(`"${name.slice(0, 100)}" is not a field`, start, this.#hint())
  }

  #takeOperator(field: SearchField): SearchOperator {
    const start = this.#scanner.position
    const operator = this.#scanner.takeOperator()
    const allowed = field.operators.join(' ')
    if (operator === undefined) {
      throw this.#scanner.refuse(
        `an operator is missing after "${field.name}"`,
        start,
        `It takes ${allowed}.`,
      )
    }
    if (field.operators.includes(operator)) return operator
    throw this.#scanner.refuse(
      `"${field.name}" does not take ${operator}`,
      start,
      `It takes ${allowed}.`,
    )
  }

  #takeValueTexts(field: SearchField, operator: SearchOperator): [string, ...string[]] {
    const start = this.#scanner.position
    const isList = field.list === true && operator === ':' && this.#scanner.takeCharacter('[')
    if (!isList) return [this.#scanner.takeValue(this.#depth > 0)]
    const [first, ...others] = this.#scanner.takeListItems(start)
    if (first === undefined) throw this.#scanner.refuse('a list item is missing', start)
    return [first, ...others]
  }

  #readValue(
    field: SearchField,
    operator: SearchOperator,
    text: string,
    start: number,
  ): SearchValue {
    // A part of a value need not be a value.
    if (operator === '~') return text
    const result = readSearchValue(field, text)
    if ('value' in result) return result.value
    throw this.#scanner.refuse(`"${field.name}" takes ${result.expected}`, start)
  }

  #hint(): string {
    return this.#fields.length === 0
      ? 'This list cannot be searched.'
      : `Fields and their operators: ${describeSearchFields(this.#fields)}.`
  }
}

function combine(
  kind: 'and' | 'or',
  left: SearchExpression,
  right: SearchExpression,
): SearchExpression {
  return { kind, operands: left.kind === kind ? [...left.operands, right] : [left, right] }
}
