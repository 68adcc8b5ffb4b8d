/*
 * Finds a secret at one place of a text, each of its characters as it is or escaped: percent-encoded, as in
 * forms, in strings of JSON and JavaScript, and in HTML.
 */

/** What is looked for. */
export interface Needle {
  readonly text: string
  /** Found only where no letter or digit stands beside it. */
  readonly standsAlone: boolean
}

export interface MatchPlace {
  readonly at: number
  /** The end of the text may be the middle of the needle. */
  readonly isCut: boolean
  /** Counts down by what is compared. */
  readonly steps: { left: number }
}

/** Where the needle that begins at `at` ends in the text; `at` itself when there is none. */
export function matchNeedle(
  needle: Needle,
  text: string,
  { at, isCut, steps }: MatchPlace,
): number {
  if (needle.standsAlone && isWord(text.charCodeAt(at - 1))) return at
  const end = endOf(needle, text, { at, isCut, steps })
  return needle.standsAlone && isWord(text.charCodeAt(end)) ? at : end
}

function endOf(needle: Needle, text: string, { at, isCut, steps }: MatchPlace): number {
  // As it stands first: a backslash of the secret may also be the escape of the next one.
  if (text.startsWith(needle.text, at)) return at + needle.text.length
  let end = at
  for (let index = 0; index < needle.text.length; index += 1) {
    if (end >= text.length) return isCut ? end : at
    if (isCut && isCutEscape(text, end)) return text.length
    const length = lengthOfCharacter(needle.text.charCodeAt(index), text, end)
    if (length === 0) {
      steps.left -= index + 1
      return at
    }
    end += length
  }
  return end
}

/** How many characters of the text at `at` stand for the character `code`; 0 when they do not. */
function lengthOfCharacter(code: number, text: string, at: number): number {
  const found = text.charCodeAt(at)
  // What begins an escape may be escaped itself.
  return lengthOfEscape(code, text, at) || (found === code ? 1 : 0)
}

function lengthOfEscape(code: number, text: string, at: number): number {
  switch (text.charCodeAt(at)) {
    case PLUS:
      return code === SPACE ? 1 : 0
    case PERCENT:
      return isHex(text, at + 1, 2, code) ? 3 : 0
    case BACKSLASH:
      return lengthOfBackslash(code, text, at)
    case AMPERSAND:
      return lengthOfEntity(code, text, at)
    default:
      return 0
  }
}

const SPACE = 0x20
const PERCENT = 0x25
const AMPERSAND = 0x26
const PLUS = 0x2b
const BACKSLASH = 0x5c

/** `\uXXXX`, `\xXX`, or `\` before a character that is no letter and no digit. */
function lengthOfBackslash(code: number, text: string, at: number): number {
  switch (text[at + 1]) {
    case 'u':
      return isHex(text, at + 2, 4, code) ? 6 : 0
    case 'x':
      return isHex(text, at + 2, 2, code) ? 4 : 0
    default:
      return text.charCodeAt(at + 1) === code && !isWord(code) ? 2 : 0
  }
}

const ENTITY = /&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));/iy
const ENTITY_LENGTH_MAX = 10
const NAMED_ENTITIES = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

function lengthOfEntity(code: number, text: string, at: number): number {
  ENTITY.lastIndex = at
  const match = ENTITY.exec(text)
  if (match === null) return 0
  const [whole, hex, decimal, name] = match
  const meant =
    name === undefined
      ? Number.parseInt(hex ?? decimal ?? '', hex === undefined ? 10 : 16)
      : NAMED_ENTITIES.get(name.toLowerCase())?.charCodeAt(0)
  return meant === code ? whole.length : 0
}

/** Whether the text ends within what may be an escaped character. */
function isCutEscape(text: string, at: number): boolean {
  return at >= text.length - ENTITY_LENGTH_MAX && CUT_ESCAPE.test(text.slice(at))
}

const CUT_ESCAPE = /^(?:%[0-9a-f]?|\\(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?|&#?[0-9a-z]{0,7})$/i

function isHex(text: string, at: number, digits: number, code: number): boolean {
  const hex = text.slice(at, at + digits)
  return hex.length === digits && /^[0-9a-f]+$/i.test(hex) && Number.parseInt(hex, 16) === code
}

function isWord(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a)
  )
}
