/* A sign-in that is blocked, or may go on with issues that will block: what, until when, and what can be done. */
import { html, type Markup } from '../kit/markup.ts'
import { postButton, statement } from '../kit/parts.ts'
import { timeWithDistance } from '../kit/times.ts'
import type { PageContent } from '../page-surface.ts'
import { showIssue } from '../issue/show-issue.ts'
import type { Texts } from '../texts/texts.ts'
import { attemptPath } from './attempt-path.ts'
import type { ShownAttempt } from './shown-attempt.ts'
import { showDevice } from './show-device.ts'

export function showAttemptIssues(shown: ShownAttempt, texts: Texts): PageContent {
  const { view, language, now } = shown
  const { attempt } = texts
  const isBlocked = view.stage === 'blocked'
  return {
    title: isBlocked ? attempt.blockedTitle : attempt.warnedTitle,
    body: html`<div class="stack-wide">
      <div class="sheet stack-wide">
        ${isBlocked ? sayBlocked(shown, texts) : sayWarned(shown, texts)}
        ${showDevice(shown, texts)} ${showContinue(shown, texts)}
      </div>
      <div>
        ${view.issues.map((issue) =>
          showIssue({
            issue,
            platform: view.device?.platform,
            language,
            now,
            actions: {
              recheck: view.choices.mayRecheck ? attemptPath(view.id, 'recheck') : undefined,
              exemption: view.choices.mayRequestExemption
                ? attemptPath(view.id, 'exemption')
                : undefined,
              snooze: view.choices.maySnooze ? attemptPath(view.id, 'snooze') : undefined,
            },
          }),
        )}
      </div>
      ${showOtherWays(shown, texts)}
    </div>`,
  }
}

function sayBlocked({ view }: ShownAttempt, { attempt }: Texts): Markup {
  const count = view.issues.filter(({ isBlocking }) => isBlocking).length
  return statement({
    tone: 'bad',
    sentence: attempt.blocked(count),
    more: html`<p>${attempt.blockedMore}</p>`,
  })
}

function sayWarned({ view, language, now }: ShownAttempt, { attempt }: Texts): Markup {
  const name = view.device?.name ?? attempt.thisDevice
  const deadlines = view.issues.flatMap(({ blocksAt, recheck }) =>
    recheck === 'passing' ? [] : (blocksAt ?? []),
  )
  const first = deadlines.toSorted((one, other) => one.getTime() - other.getTime())[0]
  return statement({
    tone: 'warn',
    sentence: attempt.warned,
    more:
      first === undefined
        ? html`<p>${attempt.warnedMore}</p>`
        : html`<p>
            ${attempt.fixBefore}${' '}<strong>${timeWithDistance(first, now, language)}</strong>${attempt.orBlocked(name)}
          </p>`,
  })
}

function showContinue({ view }: ShownAttempt, { attempt }: Texts): Markup {
  if (!view.choices.mayContinue) return undefined
  const action = attemptPath(view.id, 'continue')
  return html`<div class="actions">
    ${postButton({ action, label: attempt.continueNow, isMain: true })}
  </div>`
}

function showOtherWays({ view }: ShownAttempt, { attempt }: Texts): Markup {
  if (view.stage !== 'blocked') return undefined
  return html`<section class="sheet stack" aria-labelledby="other-ways">
    <h2 id="other-ways">${attempt.otherWays}</h2>
    <ul class="choices">
      <li>
        <h3>${attempt.otherDeviceTitle}</h3>
        <p class="quiet">${attempt.otherDevice}</p>
      </li>
      <li>
        <h3>${attempt.contactTitle}</h3>
        <p class="quiet">${attempt.contact(view.id)}</p>
      </li>
    </ul>
  </section>`
}
