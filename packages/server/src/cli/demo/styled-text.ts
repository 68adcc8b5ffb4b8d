/*
 * Lines for a terminal as data: what is written in which style. Turned into escape sequences at the
 * very end, so that widths are counted in characters that are seen.
 */
export type Style = 'plain' | 'bold' | 'dim' | 'good' | 'notice' | 'warning' | 'bad' | 'accent'

/** A piece of a line in one style. */
export interface Span {
  readonly text: string
  readonly style: Style
}

export type Line = readonly Span[]

const SEQUENCES: Readonly<Record<Style, string>> = {
  plain: '',
  bold: '\u001b[1m',
  dim: '\u001b[2m',
  good: '\u001b[32m',
  notice: '\u001b[36m',
  warning: '\u001b[33m',
  bad: '\u001b[1;31m',
  accent: '\u001b[1;34m',
}
const RESET = '\u001b[0m'

/** Text in a style. Control and formatting characters are shown as `?`: texts come from devices. */
export function span(text: string, style: Style = 'plain'): Span {
  return { text: text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?'), style }
}

/** Text cut or padded to exactly `width` characters; what is cut off ends in an ellipsis. */
export function cell(text: string, width: number, style: Style = 'plain'): Span {
  const clean = span(text, style)
  const characters = [...clean.text]
  if (characters.length <= width) return { ...clean, text: clean.text.padEnd(width) }
  return { ...clean, text: width < 1 ? '' : `${characters.slice(0, width - 1).join('')}…` }
}

/** How many characters of a line are seen. */
export function lineWidth(line: Line): number {
  return line.reduce((sum, { text }) => sum + [...text].length, 0)
}

/** Cuts or pads a line to exactly `width` characters. */
export function fitLine(line: Line, width: number): Line {
  const fitted: Span[] = []
  let left = width
  for (const part of line) {
    const length = [...part.text].length
    if (length > left) {
      fitted.push(cell(part.text, left, part.style))
      return fitted
    }
    fitted.push(part)
    left -= length
  }
  return left > 0 ? [...fitted, { text: ' '.repeat(left), style: 'plain' }] : fitted
}

/** The line as text, with escape sequences when colours are wanted. */
export function toText(line: Line, isColoured: boolean): string {
  return line
    .map(({ text, style }) =>
      isColoured && style !== 'plain' ? `${SEQUENCES[style]}${text}${RESET}` : text,
    )
    .join('')
    .trimEnd()
}
