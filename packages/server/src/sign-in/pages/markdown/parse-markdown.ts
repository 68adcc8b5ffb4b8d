/*
 * Markdown as it stands in the texts of checks, for the pages of people: CommonMark's headings, paragraphs, lists,
 * quotes, code and rules; emphasis, code and links in lines. HTML is text, and an image is its description. What
 * comes out is data, so that no text can become anything but what is listed here.
 */

import { toSafeAddress } from '../kit/markup.ts'

export type Inline =
  | string
  | { readonly kind: 'strong' | 'em'; readonly text: readonly Inline[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'link'; readonly to: string; readonly text: readonly Inline[] }

export type Block =
  | { readonly kind: 'heading' | 'paragraph'; readonly text: readonly Inline[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | {
      readonly kind: 'list'
      readonly isOrdered: boolean
      readonly items: readonly (readonly Block[])[]
    }
  | { readonly kind: 'rule' }

/** What is nested deeper is text. */
const DEPTH_MAX = 6
const FENCE = /^ {0,3}(`{3,}|~{3,})/
const HEADING = /^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$/
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/
const QUOTE = /^ {0,3}> ?/
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/
const BLANK = /^\s*$/

/** The blocks of a text. */
export function parseMarkdown(text: string): Block[] {
  return parseBlocks(text.split(/\r\n|\r|\n/), 0)
}

function parseBlocks(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = []
  let at = 0
  while (at < lines.length) {
    const line = lines[at] ?? ''
    if (BLANK.test(line)) {
      at += 1
      continue
    }
    const { block, next } = parseBlock(lines, at, depth)
    blocks.push(block)
    at = next
  }
  return blocks
}

interface Parsed {
  readonly block: Block
  /** The line behind the block. */
  readonly next: number
}

function parseBlock(lines: readonly string[], at: number, depth: number): Parsed {
  const line = lines[at] ?? ''
  const fence = FENCE.exec(line)?.[1]
  if (fence !== undefined) return parseFence(lines, at, fence)
  const heading = HEADING.exec(line)?.[1]
  if (heading !== undefined) {
    return { block: { kind: 'heading', text: parseInlines(heading) }, next: at + 1 }
  }
  if (RULE.test(line)) return { block: { kind: 'rule' }, next: at + 1 }
  if (depth < DEPTH_MAX && QUOTE.test(line)) {
    const end = findEnd(lines, at, (each) => QUOTE.test(each))
    const inner = lines.slice(at, end).map((each) => each.replace(QUOTE, ''))
    return { block: { kind: 'quote', blocks: parseBlocks(inner, depth + 1) }, next: end }
  }
  if (depth < DEPTH_MAX && ITEM.test(line)) return parseList(lines, at, depth)
  const end = findEnd(lines, at, (each) => !BLANK.test(each) && !startsBlock(each))
  const text = lines.slice(at, end).map((each) => each.trim())
  return { block: { kind: 'paragraph', text: parseInlines(text.join('\n')) }, next: end }
}

/** The first line behind `at` that does not belong to what begins there. */
function findEnd(lines: readonly string[], at: number, belongs: (line: string) => boolean): number {
  let end = at + 1
  while (end < lines.length && belongs(lines[end] ?? '')) end += 1
  return end
}

function startsBlock(line: string): boolean {
  return [FENCE, HEADING, RULE, QUOTE, ITEM].some((pattern) => pattern.test(line))
}

function parseFence(lines: readonly string[], at: number, fence: string): Parsed {
  const end = findEnd(lines, at, (line) => !line.trim().startsWith(fence))
  return { block: { kind: 'code', text: lines.slice(at + 1, end).join('\n') }, next: end + 1 }
}

function parseList(lines: readonly string[], first: number, depth: number): Parsed {
  const isOrdered = isNumbered(lines[first] ?? '')
  const items: Block[][] = []
  let at = first
  while (at < lines.length) {
    const [mark] = ITEM.exec(lines[at] ?? '') ?? []
    if (mark === undefined || isNumbered(lines[at] ?? '') !== isOrdered) break
    const width = Math.max(mark.length, 2)
    const end = findEnd(lines, at, (line) => BLANK.test(line) || indentOf(line) >= 2)
    const rest = lines.slice(at + 1, end).map((line) => line.slice(Math.min(indentOf(line), width)))
    items.push(parseBlocks([(lines[at] ?? '').slice(mark.length), ...rest], depth + 1))
    at = end
  }
  return { block: { kind: 'list', isOrdered, items }, next: at }
}

function isNumbered(line: string): boolean {
  return /^ {0,3}\d/.test(line)
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

/** Characters at which something other than text may begin. */
const MARKS = /[\\`*_![<]/g
const ESCAPED = /[!-/:-@[-`{-~]/

function parseInlines(text: string, depth = 0): Inline[] {
  const inlines: Inline[] = []
  let plain = ''
  let at = 0
  const push = (inline: Inline) => {
    if (plain !== '') inlines.push(plain)
    plain = ''
    inlines.push(inline)
  }
  while (at < text.length) {
    MARKS.lastIndex = at
    const mark = depth < DEPTH_MAX ? MARKS.exec(text)?.index : undefined
    if (mark === undefined) break
    plain += text.slice(at, mark)
    const found = readInline(text, mark, depth)
    if (typeof found.inline === 'string') plain += found.inline
    else push(found.inline)
    at = found.next
  }
  plain += text.slice(at)
  if (plain !== '') inlines.push(plain)
  return inlines
}

interface Found {
  readonly inline: Inline
  readonly next: number
}

function readInline(text: string, at: number, depth: number): Found {
  const mark = text[at] ?? ''
  const asText = { inline: mark, next: at + 1 }
  switch (mark) {
    case '\\': {
      const next = text[at + 1] ?? ''
      return ESCAPED.test(next) ? { inline: next, next: at + 2 } : asText
    }
    case '`':
      return readCode(text, at)
    case '*':
    case '_':
      return readEmphasis(text, at, depth) ?? asText
    case '!':
      // What an image shows is not fetched from elsewhere; its description stays.
      return text[at + 1] === '[' ? { inline: '', next: at + 1 } : asText
    case '[':
      return readLink(text, at, depth) ?? asText
    default:
      return readAutolink(text, at) ?? asText
  }
}

function readCode(text: string, at: number): Found {
  const [fence = '`'] = /^`+/.exec(text.slice(at, at + 10)) ?? []
  const end = text.indexOf(fence, at + fence.length)
  if (end < 0) return { inline: fence, next: at + fence.length }
  const code = text.slice(at + fence.length, end).replaceAll('\n', ' ')
  return { inline: { kind: 'code', text: code.trim() || code }, next: end + fence.length }
}

function readEmphasis(text: string, at: number, depth: number): Found | undefined {
  const mark = text[at] ?? ''
  // Inside of words an underscore is part of a name.
  if (mark === '_' && /\w/.test(text[at - 1] ?? '')) return undefined
  const fence = text[at + 1] === mark ? mark + mark : mark
  const begin = at + fence.length
  const end = text.indexOf(fence, begin + 1)
  if (end < 0 || /\s/.test(text[begin] ?? ' ') || /\s/.test(text[end - 1] ?? ' ')) return undefined
  const kind = fence.length === 2 ? 'strong' : 'em'
  return {
    inline: { kind, text: parseInlines(text.slice(begin, end), depth + 1) },
    next: end + fence.length,
  }
}

function readLink(text: string, at: number, depth: number): Found | undefined {
  const middle = text.indexOf('](', at)
  const end = middle < 0 ? -1 : text.indexOf(')', middle)
  if (end < 0) return undefined
  const label = parseInlines(text.slice(at + 1, middle), depth + 1)
  const [address = ''] = text
    .slice(middle + 2, end)
    .trim()
    .split(/\s/)
  const to = toSafeAddress(address)
  // An address of another kind is shown, and leads nowhere.
  if (to === undefined) return { inline: text.slice(at, end + 1), next: end + 1 }
  return { inline: { kind: 'link', to, text: label }, next: end + 1 }
}

function readAutolink(text: string, at: number): Found | undefined {
  const end = text.indexOf('>', at)
  const address = end < 0 ? '' : text.slice(at + 1, end)
  const to = toSafeAddress(address)
  return to === undefined
    ? undefined
    : { inline: { kind: 'link', to, text: [address] }, next: end + 1 }
}
