/* Which browsers of a person hold a key. */
import type { Language } from '../../pages/texts/language.ts'
import { html, type Markup } from '../../pages/kit/markup.ts'
import { notice, postButton } from '../../pages/kit/parts.ts'
import { distanceOf } from '../../pages/kit/times.ts'
import type { Texts } from '../../pages/texts/texts.ts'
import { ME_PATHS } from './me-paths.ts'

export interface ShownBrowser {
  readonly id: string
  readonly deviceName: string
  readonly lastUsedAt: Date
  readonly isLive: boolean
  /** Its key was seen in another browser, or on another device, and has ended. */
  readonly isCopied: boolean
}

/** Nothing where no browser holds a key. */
export function showBrowsers(
  browsers: readonly ShownBrowser[],
  { browsers: texts }: Texts,
  language: Language,
  now: Date,
): Markup {
  if (browsers.length === 0) return undefined
  const copied = browsers.filter(({ isCopied }) => isCopied)
  const live = browsers.filter(({ isLive }) => isLive)
  return html`<section class="sheet stack" aria-labelledby="browsers">
    <h2 id="browsers">${texts.title}</h2>
    ${copied.map(({ deviceName }) => notice('bad', html`<p>${texts.copied(deviceName)}</p>`))}
    <p class="quiet small">${texts.more}</p>
    <ul class="list">
      ${live.map(
        ({ id, deviceName, lastUsedAt }) =>
          html`<li class="row">
            <p>
              ${texts.on(deviceName)}${' '}
              <span class="quiet small"
                >· ${texts.used} ${distanceOf(lastUsedAt, now, language)}</span
              >
            </p>
            ${postButton({ action: ME_PATHS.endBrowser, label: texts.end, fields: { browser_key_id: id } })}
          </li>`,
      )}
    </ul>
  </section>`
}
