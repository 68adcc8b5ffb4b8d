/* One issue of one device, for whoever follows a link to it. */
import { html, type Markup } from '../../pages/kit/markup.ts'
import { statement, type Statement } from '../../pages/kit/parts.ts'
import { timeWithDistance } from '../../pages/kit/times.ts'
import { showIssue } from '../../pages/issue/show-issue.ts'
import type { PageContent } from '../../pages/page-surface.ts'
import type { Language } from '../../pages/texts/language.ts'
import { textsOf, type Texts } from '../../pages/texts/texts.ts'
import type { ShownIssue } from '../../shown-issues/list-shown-issues.ts'
import { fixPath, type FixLink } from './fix-link.ts'
import type { FixDevice } from './fix-device-read.ts'

export interface ShownFix {
  readonly token: string
  readonly link: FixLink
  readonly device: FixDevice
  /** Undefined once it no longer counts for the device. */
  readonly issue: ShownIssue | undefined
  readonly language: Language
  readonly now: Date
}

export function showFix(shown: ShownFix): PageContent {
  const { token, link, device, issue, language, now } = shown
  const texts = textsOf(language)
  const { fix } = texts
  return {
    title: issue?.title ?? fix.doneTitle,
    liveFrom: fixPath(token, 'events'),
    body: html`<div class="stack-wide">
      <div class="sheet stack-wide">
        ${statement(sayState(shown, texts))}
        <p class="quiet small">
          ${fix.seen(device.name)}${' '}${device.seenAt === null ? fix.never : timeWithDistance(device.seenAt, now, language)}
        </p>
      </div>
      ${
        issue !== undefined &&
        showIssue({
          issue,
          platform: device.platform,
          language,
          now,
          actions: { recheck: fixPath(token, 'recheck') },
        })
      }
      <p class="quiet small">${fix.expires} ${timeWithDistance(link.expiresAt, now, language)}.</p>
    </div>`,
  }
}

function sayState({ device, issue, language, now }: ShownFix, { fix }: Texts): Statement {
  if (issue === undefined || issue.recheck === 'passing') {
    return { tone: 'good', sentence: fix.done(device.name), more: html`<p>${fix.doneMore}</p>` }
  }
  if (issue.isBlocking) {
    return {
      tone: 'bad',
      sentence: fix.blocked(device.name),
      more: html`<p>${fix.blockedMore}</p>`,
    }
  }
  if (issue.blocksAt === null)
    return { tone: 'plain', picture: 'bell', sentence: fix.notice(device.name) }
  const until: Markup = timeWithDistance(issue.blocksAt, now, language)
  return {
    tone: 'warn',
    sentence: fix.warn(device.name),
    more: html`<p>${fix.before} <strong>${until}</strong>${fix.orElse}</p>`,
  }
}
