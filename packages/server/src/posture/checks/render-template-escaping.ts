// Turns values that devices reported into text that is safe to stand in Markdown.

/** The longest value that is inserted into a text, in UTF-16 code units; the rest is cut. */
const INSERTED_VALUE_LENGTH_MAX = 1_000

// Control characters, and the bidirectional controls that make text read as another text.
const UNSAFE_CHARACTERS = /[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

// Everything that may begin a Markdown construct, an HTML tag, an entity or a bare link.
const MARKDOWN_CHARACTERS = /[\\`*_{}[\]<>()#+\-.!|~&:@=$^]/g

/**
 * The value as one line of plain text with every Markdown construct escaped (CommonMark 0.31
 * section 2.4). Nothing for undefined and null; lists are joined with commas, other objects are JSON.
 */
export function escapeMarkdown(value: unknown): string {
  return toSingleLine(value).replace(MARKDOWN_CHARACTERS, '\\$&')
}

/**
 * The value as an inline code span whose fence is longer than any run of backticks in it
 * (CommonMark 0.31 section 6.1). Nothing for an empty value.
 */
export function toCodeSpan(value: unknown): string {
  const text = toSingleLine(value)
  if (text === '') return ''
  const longestRun = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longestRun + 1)
  const padding = longestRun > 0 || text !== text.trim() ? ' ' : ''
  return `${fence}${padding}${text}${padding}${fence}`
}

function toSingleLine(value: unknown): string {
  const text = toText(value).replace(UNSAFE_CHARACTERS, ' ')
  if (text.length <= INSERTED_VALUE_LENGTH_MAX) return text
  return `${text.slice(0, INSERTED_VALUE_LENGTH_MAX - 1)}…`
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.map(toText).join(', ')
  return JSON.stringify(value)
}
