/*
 * What a person is asked whose device is new here, or could not be recognised: to register it, to confirm, or to wait.
 */
import { html, type Markup } from '../kit/markup.ts'
import { notice, postButton, statement } from '../kit/parts.ts'
import { timeWithDistance } from '../kit/times.ts'
import type { PageContent } from '../page-surface.ts'
import type { Texts } from '../texts/texts.ts'
import { attemptPath } from './attempt-path.ts'
import type { ShownAttempt } from './shown-attempt.ts'
import { showDevice } from './show-device.ts'

/** The device is known, and registered to nobody yet. */
export function showRegistration(shown: ShownAttempt, texts: Texts): PageContent {
  const { ladder } = texts
  const { view } = shown
  const name = view.device?.name ?? texts.attempt.thisDevice
  const waitsFor = readText(view.registration?.state, 'waits_for')
  const offered =
    (view.device?.ownUntil ?? null) === null ? ladder.registerMore : ladder.registerAgainMore
  const rest =
    waitsFor === undefined ? showOffer(shown, texts) : showWaiting(waitsFor, shown, texts)
  return {
    title: ladder.registrationTitle,
    body: html`<div class="sheet stack-wide">
      ${statement({
        tone: 'plain',
        picture: 'laptop',
        sentence: waitsFor === undefined ? ladder.register(name) : ladder.waiting,
        more: html`<p>${waitsFor === undefined ? offered : ladder.waitingMore}</p>`,
      })}
      ${showEnded(shown, texts)} ${showDevice(shown, texts)} ${rest}
    </div>`,
  }
}

/** Said to whoever had the device registered before. */
function showEnded({ view, language, now }: ShownAttempt, { ladder }: Texts): Markup {
  const ownUntil = view.device?.ownUntil ?? null
  if (ownUntil === null) return undefined
  return notice(
    'warn',
    html`<p>${ladder.registerAgain}: ${timeWithDistance(ownUntil, now, language)}.</p>`,
  )
}

function showOffer({ view }: ShownAttempt, { ladder }: Texts): Markup {
  return html`<form method="post" action=${attemptPath(view.id, 'register')} class="stack">
    <details id=${`message-of-${view.id}`}>
      <summary>${ladder.message}</summary>
      <label>${ladder.messageHint} <input type="text" name="message" maxlength="500" /></label>
    </details>
    <div class="actions"><button class="button button-main">${ladder.registerNow}</button></div>
  </form>`
}

/** Nobody could tell which device it is: what else the organisation takes. */
export function showFallback(shown: ShownAttempt, texts: Texts): PageContent {
  const { ladder } = texts
  const { keyRequest, view } = shown
  const { fallback, id } = view
  const waitsFor = readText(fallback?.state, 'waits_for')
  const ways = fallback?.ladder ?? []
  return {
    title: ladder.fallbackTitle,
    body: html`<div class="sheet stack-wide">
      ${statement({
        tone: 'plain',
        picture: 'laptop',
        sentence: waitsFor === undefined ? ladder.fallback : ladder.waiting,
        more: html`<p>${waitsFor === undefined ? ladder.fallbackMore : ladder.waitingMore}</p>`,
      })}
      ${waitsFor !== undefined && showWaiting(waitsFor, shown, texts)}
      ${waitsFor === undefined && showCertificateProblem(readText(fallback?.state, 'certificate'), texts)}
      <ul class="choices">
        ${ways.map(
          (way) =>
            html`<li class="stack">
              <h2>${ladder.ways[way].title}</h2>
              <p class="quiet">${ladder.ways[way].more}</p>
              ${way === 'certificate' && postButton({ action: attemptPath(id, way), label: ladder.ways[way].action, newKey: keyRequest })}
              ${way !== 'certificate' && way !== waitsFor && postButton({ action: attemptPath(id, 'confirm'), label: ladder.ways[way].action, fields: { way } })}
            </li>`,
        )}
      </ul>
    </div>`,
  }
}

function showWaiting(waitsFor: string, { view }: ShownAttempt, { ladder }: Texts): Markup {
  const code = readText(view.fallback?.state ?? view.registration?.state, 'code')
  const isDevice = waitsFor === 'registered_device'
  return html`<div class="working" role="status"><span class="hidden">${ladder.waiting}</span></div>
    <p>${isDevice ? ladder.openOther : ladder.adminDecides}</p>
    ${code !== undefined && notice('plain', html`<p>${ladder.compare} <strong class="code-to-compare">${code}</strong></p>`)}`
}

/** Why the certificate that was shown did not help. */
function showCertificateProblem(reason: string | undefined, { ladder }: Texts): Markup {
  if (reason === undefined) return undefined
  const words = reason === 'missing' ? ladder.certificateMissing : ladder.certificateUnknown
  return notice('warn', html`<p>${words}</p>`)
}

/** A member of what the registration or the ladder remembers. */
function readText(state: object | undefined, member: string): string | undefined {
  const value =
    state === undefined ? undefined : (state as Readonly<Record<string, unknown>>)[member]
  return typeof value === 'string' ? value : undefined
}
