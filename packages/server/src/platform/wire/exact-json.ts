/*
 * JSON with numbers that a JavaScript number cannot hold, as PostgreSQL knows them: read and written again as they are.
 */

/** What the parser tells of a value beside it; ECMA-262, "JSON.parse source text access". */
interface ParsedFrom {
  /** The text of a value that is neither an object nor an array. */
  readonly source?: string
}

const { rawJSON } = JSON as typeof JSON & { readonly rawJSON: (text: string) => object }

/** As many significant digits every number keeps. */
const EXACT_DIGITS = 15
const LEAST_EXACT = 2.3e-308

/**
 * The value of a JSON text. A number of more than 15 significant digits that would be rounded is an object that
 * `JSON.stringify` writes as it was.
 */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, (_name, value: unknown, from?: ParsedFrom) =>
    typeof value === 'number' && isRounded(value, from?.source ?? '')
      ? rawJSON(from?.source ?? '')
      : value,
  )
}

function isRounded(value: number, source: string): boolean {
  // Next to nothing a number has fewer digits, and then none.
  if (Math.abs(value) < LEAST_EXACT) return /[1-9]/.test(source.replace(/e.*$/i, ''))
  const digits = source.replace(/e.*$/i, '').replaceAll(/[-.]/g, '').replace(/^0+/, '')
  return digits.length > EXACT_DIGITS && !isSame(value, source)
}

/** PostgreSQL writes no exponents; another text that differs is kept as it is. */
function isSame(value: number, source: string): boolean {
  return String(value) === (source.includes('.') ? source.replace(/\.?0+$/, '') : source)
}
