/*
 * The texts of SCIM that have a grammar: filters (RFC 7644 section 3.4.2.2) and the paths of PATCH
 * (section 3.5.2). Parsed here without a schema; bind-filter.ts gives them their meaning. Own code, because the
 * libraries misread escapes and the filters of Microsoft Entra (docs/adr/0008-libraries.md).
 */
import { badRequest, type ScimType } from './scim-error.ts'

export const COMPARE_OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const

export type CompareOperator = (typeof COMPARE_OPERATORS)[number]

export type ScimLiteral = string | number | boolean | null

/** The name of an attribute as it was written. */
export interface ScimAttributePath {
  readonly schema: string | undefined
  readonly attribute: string
  readonly subAttribute: string | undefined
}

export type ScimFilter =
  | { readonly kind: 'and' | 'or'; readonly operands: readonly ScimFilter[] }
  | { readonly kind: 'not'; readonly operand: ScimFilter }
  | {
      readonly kind: 'compare'
      readonly path: ScimAttributePath
      readonly operator: CompareOperator
      readonly value: ScimLiteral
    }
  | { readonly kind: 'present'; readonly path: ScimAttributePath }
  /** `emails[...]`: one value of the attribute meets the whole filter. */
  | { readonly kind: 'value'; readonly path: ScimAttributePath; readonly filter: ScimFilter }

/** What a PATCH operation is about: an attribute, perhaps some of its values, perhaps a part of them. */
export interface ScimPath extends ScimAttributePath {
  readonly filter: ScimFilter | undefined
}

const TEXT_LENGTH_MAX = 4096
const NESTING_MAX = 20

/**
 * Parses a filter. Operators and keywords are taken in any case; `not` binds tightest, then `and`. Beside
 * the grammar, `emails[type eq "work"].value eq "x"` is understood, which Microsoft Entra sends.
 *
 * @throws ScimError `invalidFilter`
 */
export function parseScimFilter(text: string): ScimFilter {
  const scanner = new Scanner(text, 'invalidFilter')
  const filter = parseOr(scanner, 0)
  scanner.expectEnd()
  return filter
}

/**
 * Parses the path of a PATCH operation, such as `name.familyName` or `emails[type eq "work"].value`.
 *
 * @throws ScimError `invalidPath`
 */
export function parseScimPath(text: string): ScimPath {
  const scanner = new Scanner(text, 'invalidPath')
  const path = scanner.takeAttributePath()
  if (!scanner.takeIf('[')) {
    scanner.expectEnd()
    return { ...path, filter: undefined }
  }
  const filter = parseOr(scanner, 1)
  scanner.expect(']')
  const subAttribute = scanner.takeSubAttribute() ?? path.subAttribute
  scanner.expectEnd()
  return { ...path, subAttribute, filter }
}

function parseOr(scanner: Scanner, nesting: number): ScimFilter {
  return parseChain(scanner, 'or', () =>
    parseChain(scanner, 'and', () => parseFactor(scanner, nesting)),
  )
}

function parseChain(scanner: Scanner, kind: 'and' | 'or', parseOperand: () => ScimFilter) {
  const first = parseOperand()
  const operands = [first]
  while (scanner.takeIfWord(kind)) operands.push(parseOperand())
  return operands.length === 1 ? first : { kind, operands }
}

function parseFactor(scanner: Scanner, nesting: number): ScimFilter {
  if (nesting >= NESTING_MAX) throw scanner.fault(`is nested deeper than ${NESTING_MAX} levels`)
  const isNegated = scanner.takeIfWord('not')
  if (isNegated || scanner.isNext('(')) {
    scanner.expect('(')
    const operand = parseOr(scanner, nesting + 1)
    scanner.expect(')')
    return isNegated ? { kind: 'not', operand } : operand
  }
  const path = scanner.takeAttributePath()
  if (!scanner.takeIf('[')) return parseCondition(scanner, path)
  const filter = parseOr(scanner, nesting + 1)
  scanner.expect(']')
  const subAttribute = scanner.takeSubAttribute()
  if (subAttribute === undefined) return { kind: 'value', path, filter }
  const part = { schema: undefined, attribute: subAttribute, subAttribute: undefined }
  const operands = [filter, parseCondition(scanner, part)]
  return { kind: 'value', path, filter: { kind: 'and', operands } }
}

function parseCondition(scanner: Scanner, path: ScimAttributePath): ScimFilter {
  const word = scanner.takeWord('an operator').toLowerCase()
  if (word === 'pr') return { kind: 'present', path }
  const operator = COMPARE_OPERATORS.find((candidate) => candidate === word)
  if (operator === undefined) {
    throw scanner.fault(
      `has no operator "${word}"; there are ${COMPARE_OPERATORS.join(', ')} and pr`,
    )
  }
  return { kind: 'compare', path, operator, value: scanner.takeLiteral() }
}

const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|([()[\]])|([^\s"()[\]]+))/y
const ATTRIBUTE_NAME = /^[A-Za-z$][\w$-]*$/

interface Token {
  readonly kind: 'string' | 'sign' | 'word'
  readonly text: string
}

class Scanner {
  readonly #scimType: ScimType
  readonly #tokens: Token[] = []
  #next = 0

  constructor(text: string, scimType: ScimType) {
    this.#scimType = scimType
    if (text.length > TEXT_LENGTH_MAX) {
      throw this.fault(`is longer than ${TEXT_LENGTH_MAX} characters`)
    }
    const end = text.trimEnd().length
    TOKEN.lastIndex = 0
    for (let at = 0; at < end; at = TOKEN.lastIndex) {
      TOKEN.lastIndex = at
      const [, string, sign, word] = TOKEN.exec(text) ?? []
      if (string !== undefined) this.#tokens.push({ kind: 'string', text: string })
      else if (sign !== undefined) this.#tokens.push({ kind: 'sign', text: sign })
      else if (word !== undefined) this.#tokens.push({ kind: 'word', text: word })
      else throw this.fault(`has a text without an end at position ${at}`)
    }
  }

  fault(problem: string): Error {
    const what = this.#scimType === 'invalidPath' ? 'path' : 'filter'
    return badRequest(this.#scimType, `The ${what} ${problem}.`)
  }

  isNext(sign: string): boolean {
    const token = this.#tokens[this.#next]
    return token?.kind === 'sign' && token.text === sign
  }

  takeIf(sign: string): boolean {
    if (!this.isNext(sign)) return false
    this.#next += 1
    return true
  }

  takeIfWord(word: string): boolean {
    const token = this.#tokens[this.#next]
    if (token?.kind !== 'word' || token.text.toLowerCase() !== word) return false
    this.#next += 1
    return true
  }

  expect(sign: string): void {
    if (!this.takeIf(sign)) throw this.fault(`needs "${sign}" ${this.#place()}`)
  }

  expectEnd(): void {
    if (this.#next < this.#tokens.length) throw this.fault(`should end ${this.#place()}`)
  }

  takeWord(what: string): string {
    const token = this.#tokens[this.#next]
    if (token?.kind !== 'word') throw this.fault(`needs ${what} ${this.#place()}`)
    this.#next += 1
    return token.text
  }

  /** The `.value` that may follow a closing bracket. */
  takeSubAttribute(): string | undefined {
    const token = this.#tokens[this.#next]
    if (token?.kind !== 'word' || !token.text.startsWith('.')) return undefined
    this.#next += 1
    return this.#toName(token.text.slice(1))
  }

  takeAttributePath(): ScimAttributePath {
    const text = this.takeWord('the name of an attribute')
    const colon = text.lastIndexOf(':')
    const names = text.slice(colon + 1).split('.')
    const [attribute = '', subAttribute, ...more] = names
    if (more.length > 0) throw this.fault(`names "${text}", which has too many parts`)
    return {
      schema: colon === -1 ? undefined : text.slice(0, colon),
      attribute: this.#toName(attribute),
      subAttribute: subAttribute === undefined ? undefined : this.#toName(subAttribute),
    }
  }

  takeLiteral(): ScimLiteral {
    const token = this.#tokens[this.#next]
    this.#next += 1
    if (token === undefined || token.kind === 'sign') throw this.fault('ends before a value')
    try {
      // Words in other cases come from clients that write the literals of their own language.
      const text = token.kind === 'word' ? token.text.toLowerCase() : token.text
      return JSON.parse(text) as ScimLiteral
    } catch {
      throw this.fault(`has ${token.text.slice(0, 50)} where a quoted value should be`)
    }
  }

  #toName(text: string): string {
    if (ATTRIBUTE_NAME.test(text)) return text
    throw this.fault(`has "${text.slice(0, 50)}" where the name of an attribute should be`)
  }

  #place(): string {
    const token = this.#tokens[this.#next]
    return token === undefined ? 'at its end' : `before ${token.text.slice(0, 50)}`
  }
}
