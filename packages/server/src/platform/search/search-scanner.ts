import { AppError } from '../app-error.ts'
import type { SearchOperator } from './search-field.ts'

const SPACE = /\s*/y
const NAME = /[A-Za-z_][\w.]*/y
const CONNECTIVE = /(and|or)(?=[\s(]|$)/iy
const QUOTED = /"((?:[^"\\]|\\[^])*)"/y
const UNQUOTED = /[^\s"][^\s]*/y
const UNQUOTED_IN_GROUP = /[^\s")][^\s)]*/y
const LIST_ITEM = /[^\s",[\]]+/y

export const SEARCH_LIST_MAX = 100

/** Reads the pieces of a search text from left to right. Positions in messages count from 1. */
export class SearchScanner {
  readonly text: string
  #at = 0

  constructor(text: string) {
    this.text = text
  }

  /** Where the next piece begins. */
  get position(): number {
    this.#take(SPACE)
    return this.#at
  }

  get isAtEnd(): boolean {
    return this.position >= this.text.length
  }

  /** Takes the character if it is the next one. */
  takeCharacter(character: string): boolean {
    if (this.text[this.position] !== character) return false
    this.#at += 1
    return true
  }

  /** The connective that comes next, without taking it. */
  peekConnective(): 'and' | 'or' | undefined {
    const start = this.position
    const word = this.#take(CONNECTIVE)?.[0].toLowerCase()
    this.#at = start
    return word === 'and' || word === 'or' ? word : undefined
  }

  takeConnective(): void {
    this.#take(CONNECTIVE)
  }

  takeName(): string | undefined {
    this.#take(SPACE)
    return this.#take(NAME)?.[0]
  }

  takeOperator(): SearchOperator | undefined {
    const character = this.text[this.position]
    if (character !== ':' && character !== '~' && character !== '>' && character !== '<') {
      return undefined
    }
    this.#at += 1
    return character
  }

  /** A quoted value, or one that reaches to the next space (or the end of its group). */
  takeValue(isInGroup: boolean): string {
    const start = this.position
    const quoted = this.#takeQuoted()
    if (quoted !== undefined) return quoted
    const value = this.#take(isInGroup ? UNQUOTED_IN_GROUP : UNQUOTED)?.[0]
    if (value === undefined) throw this.refuse('a value is missing', start)
    return value
  }

  /** The items of a list; its opening bracket has been taken. */
  takeListItems(start: number): string[] {
    const items: string[] = []
    do {
      const at = this.position
      const item = this.#takeQuoted() ?? this.#take(LIST_ITEM)?.[0]
      if (item === undefined) throw this.refuse('a list item is missing', at)
      items.push(item)
      if (items.length > SEARCH_LIST_MAX) {
        throw this.refuse(`a list holds at most ${SEARCH_LIST_MAX} items`, start)
      }
    } while (this.takeCharacter(','))
    if (!this.takeCharacter(']')) throw this.refuse('"," or "]" is missing', this.position)
    return items
  }

  /** The refusal of the text at a place of it. */
  refuse(reason: string, position: number, hint = ''): AppError {
    return new AppError(
      'invalid_search',
      `The search cannot be understood: ${reason}, at character ${position + 1}.${hint === '' ? '' : ` ${hint}`}`,
    )
  }

  #takeQuoted(): string | undefined {
    const start = this.#at
    if (this.text[start] !== '"') return undefined
    const inner = this.#take(QUOTED)?.[1]
    if (inner === undefined) throw this.refuse('the closing double quote is missing', start)
    // Other backslashes stand for themselves, so that paths need no doubling.
    return inner.replace(/\\(["\\])/g, '$1')
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.text)
    if (match !== null) this.#at = pattern.lastIndex
    return match
  }
}
