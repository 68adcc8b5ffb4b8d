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
/** A word about a state, with its shape. */
export function badge(tone: Tone, text: Markup, name: PictureName = PICTURES[tone]): Markup {
  return html`<span class=${`badge tone-${tone}`}>${picture(name)}${text}</span>`
}

export interface PostButton {
  readonly action: string
  readonly label: Markup
  readonly isMain?: boolean
  /** Sent without leaving the page, where scripts run. */
  readonly inPlace?: boolean
  readonly fields?: Readonly<Record<string, string>>
  /** A key of the browser is sent along, where scripts run, to be bound to the device that is proven by it. */
  readonly newKey?: { readonly challenge: string; readonly owner: string } | undefined
  /** By which the focus comes back to it. */
  readonly id?: string
}

/** A button that does something. */
export function postButton({
  action,
  label,
  isMain,
  inPlace,
  fields = {},
  newKey,
  id,
}: PostButton): Markup {
  const kind = isMain === true ? 'button button-main' : 'button'
  return html`<form
    method="post"
    action=${action}
    data-in-place=${inPlace === true ? '' : undefined}
    data-new-key=${newKey && ''}
    data-challenge=${newKey?.challenge}
    data-owner=${newKey?.owner}
  >
    ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`)}
    <button class=${kind} id=${id}>${label}</button>
  </form>`
}
