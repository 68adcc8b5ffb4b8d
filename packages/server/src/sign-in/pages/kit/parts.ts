/* Pieces that pages have in common. */
import { html, type Markup } from './markup.ts'
import { picture, type PictureName } from './pictures.ts'

export type Tone = 'good' | 'warn' | 'bad' | 'plain'

const PICTURES: Readonly<Record<Tone, PictureName>> = {
  good: 'check',
  warn: 'hourglass',
  bad: 'barred',
  plain: 'circle',
}

export interface Statement {
  readonly tone: Tone
  /** One sentence: what is so. */
  readonly sentence: Markup
  /** What follows from it. */
  readonly more?: Markup
  readonly picture?: PictureName
}

/** What a page begins with: one sentence that says what is so. */
export function statement({ tone, sentence, more, picture: name }: Statement): Markup {
  return html`<div class=${`state tone-${tone}`} data-part="statement">
    <div class="state-mark">${picture(name ?? PICTURES[tone])}</div>
    <div class="state-text">
      <h1>${sentence}</h1>
      ${more && html`<div class="lead stack">${more}</div>`}
    </div>
  </div>`
}

/** Something that the reader must know before going on. */
export function notice(tone: Tone, text: Markup): Markup {
  return html`<div class=${`notice tone-${tone}`}>${text}</div>`
}

/** Facts with their names. */
export function facts(pairs: readonly (readonly [name: Markup, value: Markup])[]): Markup {
  return html`<dl class="facts">
    ${pairs.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`
}

/** A link that looks like a button. */
export function linkButton(to: string, label: Markup, isMain = false): Markup {
  return html`<a class=${isMain ? 'button button-main' : 'button'} href=${to}>${label}</a>`
}
