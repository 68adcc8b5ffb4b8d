/*
 * A sign-in as its person sees it, whatever step it is at. Every page begins with one sentence: what becomes of this
 * sign-in. Owns no step and no rule; what may be done stands in the view.
 */
import type { AttemptView } from '../../attempts/attempt-view.ts'
import { html, type Markup } from '../kit/markup.ts'
import { linkButton, notice, postButton, statement } from '../kit/parts.ts'
import type { PageContent } from '../page-surface.ts'
import { textsOf, type Texts } from '../texts/texts.ts'
import { attemptPath } from './attempt-path.ts'
import { showAttemptIssues } from './show-attempt-issues.ts'
import { showDevice } from './show-device.ts'
import { showFallback, showRegistration } from './show-ladder.ts'
import type { ShownAttempt } from './shown-attempt.ts'

/** Seconds for which a sign-in that has ended well can be read before it goes on. */
const GOES_ON_SECONDS = 2

/** The page of a sign-in. */
export function showAttempt(shown: ShownAttempt): PageContent {
  const { view, language } = shown
  const texts = textsOf(language)
  const content = showStage(shown, texts)
  const isOver = ['done', 'refused', 'abandoned'].includes(view.stage)
  return {
    ...content,
    body: html`<div class="stack-wide">${content.body}${!isOver && showCancel(view, texts)}</div>`,
    isProving: view.stage === 'device' || view.fallback?.ladder.includes('certificate') === true,
    ...(isOver ? {} : { liveFrom: attemptPath(view.id, 'events') }),
  }
}

function showStage(shown: ShownAttempt, texts: Texts): PageContent {
  const { view } = shown
  const { attempt } = texts
  switch (view.stage) {
    case 'person':
      return showPerson(view, texts)
    case 'device':
      return showProof(shown, texts)
    case 'registration':
      return showRegistration(shown, texts)
    case 'fallback':
      return showFallback(shown, texts)
    case 'posture':
      return working(
        attempt.postureTitle,
        attempt.posture(view.device?.name ?? ''),
        showDevice(shown, texts),
      )
    case 'blocked':
    case 'warned':
      return showAttemptIssues(shown, texts)
    case 'done':
      return showDone(shown, texts)
    case 'refused':
      return showRefusal(view, texts)
    case 'abandoned':
      return sheet(attempt.abandonedTitle, {
        tone: 'plain',
        sentence: attempt.abandoned,
        more: html`<p>${attempt.beginAgain}</p>`,
      })
  }
}

/** A page that is one statement. */
function sheet(title: string, said: Parameters<typeof statement>[0], rest?: Markup): PageContent {
  return { title, body: html`<div class="sheet stack-wide">${statement(said)}${rest}</div>` }
}

function working(title: string, sentence: Markup, rest: Markup): PageContent {
  return {
    title,
    body: html`<div class="sheet stack-wide">
      ${statement({ tone: 'plain', picture: 'laptop', sentence })}
      <div class="working" role="status"><span class="hidden">${sentence}</span></div>
      ${rest}
    </div>`,
  }
}

/**
 * Who signs in is said where the sign-in comes from, never here: a typed address would stand for whatever proof is
 * wanted there.
 */
function showPerson({ applicationName }: AttemptView, { attempt }: Texts): PageContent {
  const sentence = applicationName === null ? attempt.whoHere : attempt.whoSignsIn(applicationName)
  const more = html`<p>${attempt.whoMore}</p>`
  return sheet(attempt.personTitle, { tone: 'plain', picture: 'person', sentence, more })
}

/** The script of the proof begins by itself; without scripts it cannot, and says so. */
function showProof({ view, keyRequest }: ShownAttempt, { attempt }: Texts): PageContent {
  const { id, person } = view
  return working(
    attempt.proofTitle,
    attempt.proof,
    html`<p
        class="quiet"
        id="proof"
        data-proof=${attemptPath(id, 'proof')}
        data-key=${attemptPath(id, 'browser-key')}
        data-challenge=${keyRequest?.challenge}
        data-owner=${keyRequest?.owner}
      >
        ${attempt.proofMore(person?.name ?? '')}
      </p>
      <noscript
        ><div class="stack">
          ${notice('warn', html`<p>${attempt.proofWithoutScript}</p>`)}
          ${postButton({ action: attemptPath(id, 'proof'), label: attempt.otherWay, fields: { unavailable: 'yes' } })}
        </div></noscript
      >`,
  )
}

function showDone({ view, isStaying }: ShownAttempt, { attempt }: Texts): PageContent {
  const { id, applicationName } = view
  const to = attemptPath(id, 'return')
  const name = applicationName ?? attempt.yourPages
  const rest = html`<div
    class="stack"
    data-go-on=${isStaying ? undefined : to}
    data-seconds=${GOES_ON_SECONDS}
  >
    ${
      !isStaying &&
      html`<p role="status" data-going>${attempt.goesOn(GOES_ON_SECONDS)}</p>
        <div class="working" data-going></div>`
    }
    <div class="actions">
      ${linkButton(to, attempt.goTo(name), true)}
      ${
        !isStaying &&
        html`<button type="button" class="button" data-cancel hidden>${attempt.stayHere}</button>
          <noscript>${linkButton('?stay=yes', attempt.stayHere)}</noscript>`
      }
    </div>
  </div>`
  const said = sheet(attempt.doneTitle, { tone: 'good', sentence: attempt.done(name) }, rest)
  return isStaying ? said : { ...said, goesOn: { to, afterSeconds: GOES_ON_SECONDS } }
}

function showRefusal({ refusal, device, id }: AttemptView, { attempt }: Texts): PageContent {
  const words = refusal === undefined ? attempt.refused : attempt.refusals[refusal.code]
  const note = refusal?.note ?? null
  const rest = html`${note !== null && notice('plain', html`<p><q>${note}</q></p>`)}
    ${device !== undefined && html`<p class="quiet">${attempt.refusedDevice(device.name)}</p>`}
    <p>${attempt.beginAgain}</p>
    <div class="actions">${linkButton(attemptPath(id, 'return'), attempt.backToApplication)}</div>
    <p class="quiet small">${attempt.forAdmins(refusal?.code ?? '', id)}</p>`
  return sheet(
    attempt.refusedTitle,
    { tone: 'bad', sentence: attempt.refused, more: html`<p>${words}</p>` },
    rest,
  )
}

function showCancel({ id, choices }: AttemptView, { attempt }: Texts): Markup {
  if (!choices.mayCancel) return undefined
  return html`<form method="post" action=${attemptPath(id, 'cancel')}>
    <button class="button-link">${attempt.cancel}</button>
  </form>`
}
