/* Markdown of checks as the reader of a page sees it. Nothing of it is ever HTML. */
import { html, isSafeAddress, type Markup } from '../kit/markup.ts'
import { picture } from '../kit/pictures.ts'
import type { Texts } from '../texts/texts.ts'
import { createMarkdownReader, type Block, type Inline } from './read-markdown.ts'

const readMarkdown = createMarkdownReader(isSafeAddress)

/** The text as elements; code can be copied. */
export function showMarkdown(text: string, texts: Texts): Markup {
  return readMarkdown(text).map((block) => showBlock(block, texts))
}

function showBlock(block: Block, texts: Texts): Markup {
  const showAll = (blocks: readonly Block[]) => blocks.map((each) => showBlock(each, texts))
  switch (block.kind) {
    case 'heading':
      // A text inside of a page has no place in the order of the page's headings.
      return html`<p><strong>${showInlines(block.text, texts)}</strong></p>`
    case 'paragraph':
      return html`<p>${showInlines(block.text, texts)}</p>`
    case 'code':
      return html`<div>
        <pre tabindex="0">${block.text}</pre>
        ${copyButton(block.text, texts)}
      </div>`
    case 'quote':
      return html`<blockquote>${showAll(block.blocks)}</blockquote>`
    case 'list': {
      const items = block.items.map((item) => html`<li>${showAll(item)}</li>`)
      return block.isOrdered
        ? html`<ol>
            ${items}
          </ol>`
        : html`<ul>
            ${items}
          </ul>`
    }
    case 'rule':
      return html`<hr />`
  }
}

function showInlines(inlines: readonly Inline[], texts: Texts): Markup {
  return inlines.map((inline) => showInline(inline, texts))
}

function showInline(inline: Inline, texts: Texts): Markup {
  if (typeof inline === 'string') return inline
  switch (inline.kind) {
    case 'strong':
      return html`<strong>${showInlines(inline.text, texts)}</strong>`
    case 'em':
      return html`<em>${showInlines(inline.text, texts)}</em>`
    case 'code':
      if (!isCommand(inline.text)) return html`<code>${inline.text}</code>`
      return html`<span class="copied"
        ><code>${inline.text}</code> ${copyButton(inline.text, texts)}</span
      >`
    case 'info':
      return html`<span class="glyph" role="img" aria-label=${texts.infoButton}
        >${picture('info')}</span
      >`
    case 'link':
      return html`<a href=${inline.to} target="_blank" rel="noopener noreferrer"
        >${showInlines(inline.text, texts)}</a
      >`
  }
}

/** What is typed somewhere, and not the name of something. */
function isCommand(text: string): boolean {
  return /\S\s+\S/.test(text)
}

/** Shown by the script of the page, where it may copy. */
function copyButton(text: string, texts: Texts): Markup {
  return html`<button type="button" class="copy" data-copy=${text} hidden>${texts.copy}</button>`
}
