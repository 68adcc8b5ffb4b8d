/*
 * Markdown as admins write it in notes and as it stands in the texts of checks: CommonMark, read by `markdown-it`. HTML
 * is text, and an image is a link by its description. What comes out is data, so that no text can become anything but
 * what is listed here. The console is built with it as well: it imports nothing of the service.
 */
import MarkdownIt, { type Token } from 'markdown-it'

export type Inline =
  | string
  | { readonly kind: 'strong' | 'em'; readonly text: readonly Inline[] }
  | { readonly kind: 'code'; readonly text: string }
  /** The button of macOS that shows more: an icon, because many fonts lack its character. */
  | { readonly kind: 'info' }
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

/** A token with what stands between its beginning and its end. */
interface Node {
  readonly token: Token
  readonly children: readonly Node[]
}

/**
 * Creates a reader of texts. A link is one where `isSafeAddress` says that its address may be followed, and text
 * otherwise. What is nested deeper than twenty levels is left out.
 */
export function createMarkdownReader(
  isSafeAddress: (address: string) => boolean,
): (text: string) => Block[] {
  const reader = new MarkdownIt('commonmark', { html: false })
  reader.validateLink = isSafeAddress
  return (text) => nest(reader.parse(text, {})).flatMap(toBlocks)
}

function nest(tokens: readonly Token[]): Node[] {
  const root: Node[] = []
  const open = [root]
  for (const token of tokens) {
    if (token.nesting < 0) {
      open.pop()
      continue
    }
    const children = nest(token.children ?? [])
    open.at(-1)?.push({ token, children })
    if (token.nesting > 0) open.push(children)
  }
  return root
}

function toBlocks({ token, children }: Node): Block[] {
  switch (token.type) {
    case 'heading_open':
      return [{ kind: 'heading', text: toInlines(children) }]
    case 'paragraph_open':
      return [{ kind: 'paragraph', text: toInlines(children) }]
    case 'fence':
    case 'code_block':
      return [{ kind: 'code', text: token.content.replace(/\n$/, '') }]
    case 'blockquote_open':
      return [{ kind: 'quote', blocks: children.flatMap(toBlocks) }]
    case 'bullet_list_open':
    case 'ordered_list_open': {
      const items = children.map((item) => item.children.flatMap(toBlocks))
      return [{ kind: 'list', isOrdered: token.type === 'ordered_list_open', items }]
    }
    case 'hr':
      return [{ kind: 'rule' }]
    default:
      return []
  }
}

/** The texts of lines; those beside each other are one. */
function toInlines(nodes: readonly Node[]): Inline[] {
  const inlines: Inline[] = []
  for (const inline of nodes.flatMap(toInline)) {
    const last = inlines.at(-1)
    if (typeof inline === 'string' && typeof last === 'string') {
      inlines[inlines.length - 1] = last + inline
    } else if (inline !== '') inlines.push(inline)
  }
  return inlines
}

function toInline({ token, children }: Node): Inline | Inline[] {
  switch (token.type) {
    case 'inline':
      return toInlines(children)
    case 'softbreak':
    case 'hardbreak':
      return '\n'
    case 'strong_open':
      return { kind: 'strong', text: toInlines(children) }
    case 'em_open':
      return { kind: 'em', text: toInlines(children) }
    case 'code_inline':
      return { kind: 'code', text: token.content }
    case 'link_open':
      return { kind: 'link', to: token.attrGet('href') ?? '', text: toInlines(children) }
    case 'image':
      // What it shows is not fetched from elsewhere.
      return { kind: 'link', to: token.attrGet('src') ?? '', text: [token.content] }
    default:
      return toIcons(token.content)
  }
}

const INFO_CHARACTER = 'ⓘ'

function toIcons(text: string): Inline[] {
  return text
    .split(INFO_CHARACTER)
    .flatMap((part, index) => (index === 0 ? [part] : [{ kind: 'info' as const }, part]))
}
