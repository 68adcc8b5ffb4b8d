/* The device that a sign-in is taken to come from, how that is known, and the way to say that it is not so. */
import { html, type Markup } from '../kit/markup.ts'
import { picture } from '../kit/pictures.ts'
import { distanceOf } from '../kit/times.ts'
import type { Texts } from '../texts/texts.ts'
import { attemptPath } from './attempt-path.ts'
import type { ShownAttempt } from './shown-attempt.ts'

/** Nothing while no device is known. */
export function showDevice({ view, language, now }: ShownAttempt, { attempt }: Texts): Markup {
  const { device, choices, id } = view
  if (device === undefined) return undefined
  const isPhone = device.platform === 'ios' || device.platform === 'android'
  const seen = device.seenAt && html` · ${attempt.seen} ${distanceOf(device.seenAt, now, language)}`
  return html`<div class="device" data-part="device">
    ${picture(isPhone ? 'phone' : 'laptop')}
    <div class="device-text">
      <strong>${device.name}</strong>
      <div class="quiet small">${attempt.howKnown[device.howKnown]}${seen}</div>
      ${
        choices.maySayNotMyDevice &&
        html`<form method="post" action=${attemptPath(id, 'not-my-device')}>
          <button class="button-link small">${attempt.notMyDevice}</button>
        </form>`
      }
    </div>
  </div>`
}
