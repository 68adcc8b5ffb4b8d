/* What waits for the person to confirm it. */
import { html, type Markup } from '../../pages/kit/markup.ts'
import { notice } from '../../pages/kit/parts.ts'
import type { Texts } from '../../pages/texts/texts.ts'
import { ME_PATHS } from './me-paths.ts'

export interface ShownRequest {
  readonly id: string
  readonly kind: 'registration' | 'sign_in'
  readonly deviceName: string
  readonly applicationName: string | null
  readonly ipAddress: string | null
}

/** What waits for a person. */
export interface OwnRequests {
  readonly shown: readonly ShownRequest[]
  /** Those beside the shown ones, asked for before them. */
  readonly moreCount: number
}

/** Nothing where nothing waits. */
export function showRequests(
  { shown, moreCount }: OwnRequests,
  isCodeWrong: boolean,
  { requests: texts }: Texts,
): Markup {
  if (shown.length === 0) return undefined
  return html`<section class="sheet stack" aria-labelledby="requests">
    <h2 id="requests">${texts.title}</h2>
    ${isCodeWrong && notice('bad', html`<p role="alert">${texts.wrongCode}</p>`)}
    <ul class="list">
      ${shown.map((request) => showRequest(request, texts))}
    </ul>
    ${moreCount > 0 && html`<p class="quiet">${texts.more(moreCount)}</p>`}
  </section>`
}

function showRequest(request: ShownRequest, texts: Texts['requests']): Markup {
  const { id, kind, deviceName, applicationName, ipAddress } = request
  return html`<li>
    <form method="post" action=${ME_PATHS.confirm} class="stack">
      <input type="hidden" name="confirmation_id" value=${id} />
      <h3>
        ${kind === 'registration' ? texts.registration(deviceName) : texts.signIn(deviceName, applicationName)}
      </h3>
      <p class="quiet">${texts.from(ipAddress)}</p>
      <label
        >${texts.code}<input
          type="text"
          name="code"
          inputmode="numeric"
          autocomplete="one-time-code"
          maxlength="12"
      /></label>
      <div class="actions">
        <button class="button button-main" name="decision" value="yes">${texts.yes}</button>
        <button class="button" name="decision" value="no">${texts.no}</button>
      </div>
    </form>
  </li>`
}
