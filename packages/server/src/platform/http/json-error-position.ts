/**
 * Finds where a text stops being JSON (RFC 8259), in one pass and without recursion. The engine's own
 * message leaves the position out for the most frequent mistakes, and repeats parts of the body.
 */
const LITERAL = /true|false|null/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const STRING = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const STRING_START = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y
const SPACE = /[ \t\r\n]*/y

/** What may come next. `key` and `value` after a comma may not be a closing bracket. */
type Expectation = 'value' | 'value_or_end' | 'key' | 'key_or_end' | 'colon' | 'comma_or_end'

/** The offset (in UTF-16 units) of the first character that cannot belong to a JSON text. */
export function findJsonErrorPosition(text: string): number {
  const open: ('{' | '[')[] = []
  let expected: Expectation = 'value'
  let at = skip(SPACE, text, 0)
  for (;;) {
    const character = text[at]
    if (character === undefined) return at
    const step = takeStep(text, at, expected, open)
    if (typeof step === 'number') return step
    at = skip(SPACE, text, step.at)
    expected = step.expected
    if (expected === 'comma_or_end' && open.length === 0) return at
  }
}

interface Step {
  readonly at: number
  readonly expected: Expectation
}

/** One token further, or the position of the error. */
function takeStep(
  text: string,
  at: number,
  expected: Expectation,
  open: ('{' | '[')[],
): Step | number {
  const character = text[at]
  if (expected === 'colon') return character === ':' ? { at: at + 1, expected: 'value' } : at
  if (expected.endsWith('_or_end') && isClosing(character, open)) return close(at, open)
  if (expected === 'comma_or_end') {
    if (character !== ',') return at
    return { at: at + 1, expected: open.at(-1) === '{' ? 'key' : 'value' }
  }
  return expected.startsWith('key') ? takeString(text, at, 'colon') : takeValue(text, at, open)
}

function isClosing(character: string | undefined, open: readonly ('{' | '[')[]): boolean {
  const innermost = open.at(-1)
  return innermost !== undefined && character === (innermost === '{' ? '}' : ']')
}

function takeValue(text: string, at: number, open: ('{' | '[')[]): Step | number {
  const character = text[at]
  if (character === '{' || character === '[') {
    open.push(character)
    return { at: at + 1, expected: character === '{' ? 'key_or_end' : 'value_or_end' }
  }
  if (character === '"') return takeString(text, at, 'comma_or_end')
  const end = Math.max(skip(LITERAL, text, at), skip(NUMBER, text, at))
  return end === at ? at : { at: end, expected: 'comma_or_end' }
}

function takeString(text: string, at: number, expected: Expectation): Step | number {
  const end = skip(STRING, text, at)
  return end === at ? skip(STRING_START, text, at) : { at: end, expected }
}

function close(at: number, open: ('{' | '[')[]): Step {
  open.pop()
  return { at: at + 1, expected: 'comma_or_end' }
}

/** Where the pattern stops matching from `at`; `at` itself when it does not match. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}
