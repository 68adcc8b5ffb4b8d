/*
 * An issue as a card: what is wrong and until when, why it matters, what was found, what to do, and what may be asked
 * for.
 */
import type { Platform } from '../../../schema/tables/device-tables.ts'
import type { AttemptIssue } from '../../attempts/attempt-view.ts'
import { html, type Markup } from '../kit/markup.ts'
import { badge, facts, linkButton, notice, postButton } from '../kit/parts.ts'
import { distanceOf, timeWithDistance } from '../kit/times.ts'
import { showMarkdown } from '../markdown/show-markdown.ts'
import type { Language } from '../texts/language.ts'
import { textsOf, type Texts } from '../texts/texts.ts'
import { findFixFacts } from './fix-facts.ts'
import { findFoundWords } from './found/found-words.ts'
import { NOT_SNOOZED } from './snooze-form.ts'

/** What of an issue its reader may do from this page. */
export interface IssueActions {
  /** Where its forms are sent to; each gets `issue_id`. */
  readonly recheck?: string | undefined
  readonly exemption?: string | undefined
  readonly withdraw?: string | undefined
  readonly snooze?: string | undefined
}

export interface IssueCard {
  readonly issue: AttemptIssue
  readonly platform: Platform | undefined
  readonly actions: IssueActions
  readonly language: Language
  readonly now: Date
}

export function showIssue(card: IssueCard): Markup {
  const { issue, language } = card
  const texts = textsOf(language)
  const { id, title, rationale, rows, recheck } = issue
  const titleId = `issue-${id}`
  return html`<section class="issue stack" aria-labelledby=${titleId} data-part=${titleId}>
    <div class="issue-head">
      <h2 id=${titleId}>${title}</h2>
      ${showDeadline(card, texts)}
    </div>
    ${
      recheck !== 'passing' && [
        rationale !== null && html`<div class="text quiet">${showMarkdown(rationale, texts)}</div>`,
        rows.map((row) => showFound(row, card, texts)),
        showSteps(card, texts),
        showActions(card, texts),
        showSnooze(card, texts),
      ]
    }
    ${showRecheck(card, texts)}
  </section>`
}

function showDeadline({ issue, language, now }: IssueCard, { issues }: Texts): Markup {
  const { blocksAt, isBlocking, exemption, recheck } = issue
  if (recheck === 'passing') return badge('good', issues.fixed)
  if (exemption === 'approved') return badge('good', issues.exempted, 'circle')
  if (isBlocking) return badge('bad', issues.blocks)
  if (blocksAt === null) return badge('plain', issues.notice, 'bell')
  return badge(
    'warn',
    html`<span>${issues.blocksPrefix} ${distanceOf(blocksAt, now, language)}</span>`,
  )
}

/** A sentence where the check has one, and the answer itself; of custom checks the answer alone. */
function showFound(
  row: Readonly<Record<string, string>>,
  { issue: { id, checkSlug }, platform, language }: IssueCard,
  { issues }: Texts,
): Markup {
  const words = findFoundWords({ checkSlug, platform, row }, language)
  const pairs = Object.entries(row).map(([name, value]) => [toWords(name), value] as const)
  const answer = html`<div lang="en">${facts(pairs)}</div>`
  return html`<div class="found stack">
    <h3>${issues.foundTitle}</h3>
    ${
      words === undefined
        ? answer
        : html`<p>${words}</p>
            <details id=${`answer-of-${id}`}>
              <summary>${issues.exactAnswer}</summary>
              ${answer}
            </details>`
    }
  </div>`
}

/** `filevault_status` is "Filevault status". */
function toWords(column: string): string {
  const words = column.replaceAll('_', ' ').trim()
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

function showSteps({ issue, platform }: IssueCard, texts: Texts): Markup {
  const { issues } = texts
  const { settings, minutes } =
    platform === undefined ? {} : findFixFacts(issue.checkSlug, platform)
  if (issue.steps === null && settings === undefined) return undefined
  return html`<div class="stack">
    <h3>
      ${issues.stepsTitle}${minutes !== undefined && html` <span class="quiet">· ${issues.takes(minutes)}</span>`}
    </h3>
    ${settings !== undefined && html`<p>${linkButton(settings, issues.openSettings)}</p>`}
    ${issue.steps !== null && html`<div class="text steps">${showMarkdown(issue.steps, texts)}</div>`}
  </div>`
}

function showActions({ issue, actions }: IssueCard, { issues }: Texts): Markup {
  const { id, recheck, isExemptionAllowed } = issue
  const isAsking = recheck === 'asking'
  return html`<div class="stack">
    ${
      actions.recheck !== undefined &&
      !isAsking &&
      html`<div class="actions">
        ${postButton({ action: actions.recheck, label: issues.fixedIt, isMain: true, inPlace: true, fields: { issue_id: id }, id: `recheck-${id}` })}
      </div>`
    }
    ${actions.exemption !== undefined && isExemptionAllowed && showExemptionForm(id, actions.exemption, issues)}
  </div>`
}

/** Putting it off, or being reminded again; nothing where neither can be. */
function showSnooze({ issue, actions }: IssueCard, { issues }: Texts): Markup {
  const { id, snoozeDays, snoozedUntil, blocksAt } = issue
  const action = actions.snooze
  if (action === undefined) return undefined
  if (snoozedUntil !== null) {
    const fields = { issue_id: id, days: NOT_SNOOZED }
    return html`<p>${postButton({ action, label: issues.remindAgain, fields })}</p>`
  }
  if (snoozeDays.length === 0) return undefined
  return html`<details id=${`snooze-of-${id}`}>
    <summary>${issues.snooze}</summary>
    <form method="post" action=${action} class="stack">
      <input type="hidden" name="issue_id" value=${id} />
      <p class="quiet">${blocksAt === null ? issues.snoozeMore : issues.snoozeStillBlocks}</p>
      <div class="actions">
        ${snoozeDays.map(
          (days) =>
            html`<button class="button" name="days" value=${String(days)}>
              ${issues.snoozeFor(days)}
            </button>`,
        )}
      </div>
    </form>
  </details>`
}

function showExemptionForm(id: string, action: string, issues: Texts['issues']): Markup {
  return html`<details id=${`exemption-of-${id}`}>
    <summary>${issues.askExemption}</summary>
    <form method="post" action=${action} class="stack">
      <input type="hidden" name="issue_id" value=${id} />
      <p class="quiet">${issues.exemptionMore}</p>
      <label
        >${issues.exemptionReason}<textarea name="reason" required maxlength="2000"></textarea>
      </label>
      <button class="button">${issues.sendRequest}</button>
    </form>
  </details>`
}

/** What is going on with the question whether it is fixed; told aloud when it changes. */
function showRecheck(card: IssueCard, texts: Texts): Markup {
  const { issue, language, now } = card
  const { issues } = texts
  const { recheck, lastCheckedAt, snoozedUntil } = issue
  const checked =
    lastCheckedAt &&
    html`<span>${issues.lastChecked} ${timeWithDistance(lastCheckedAt, now, language)}</span>`
  return html`<div class="stack small" role="status">
    ${
      snoozedUntil !== null &&
      notice(
        'plain',
        html`<p>${issues.snoozedUntil} ${timeWithDistance(snoozedUntil, now, language)}.</p>`,
      )
    }
    ${showExemption(card, texts)}
    ${
      recheck === 'asking' &&
      html`<p>${issues.asking}</p>
        <div class="working"></div>`
    }
    ${recheck === 'failing' && html`<p class="quiet">${issues.stillFailing} ${checked}</p>`}
    ${recheck === 'idle' && checked && html`<p class="quiet">${checked}</p>`}
    ${recheck === 'passing' && html`<p>${issues.passing}</p>`}
  </div>`
}

/** What became of the request for an exemption. */
function showExemption({ issue, actions, language, now }: IssueCard, { issues }: Texts): Markup {
  const { id, exemption, exemptedUntil, exemptionDenial, withdrawableRequestId } = issue
  switch (exemption) {
    case null:
      return undefined
    case 'approved':
      return (
        exemptedUntil !== null &&
        html`<p class="quiet">
          ${issues.exemptedUntil} ${timeWithDistance(exemptedUntil, now, language)}.
        </p>`
      )
    case 'open': {
      const { withdraw } = actions
      const isWithdrawable = withdraw !== undefined && withdrawableRequestId !== null
      return notice(
        'plain',
        html`<div class="stack">
          <p>${issues.exemptionOpen}</p>
          ${isWithdrawable && postButton({ action: withdraw, label: issues.withdraw, fields: { issue_id: id } })}
        </div>`,
      )
    }
    case 'denied':
      return notice(
        'plain',
        html`<p>
          ${issues.exemptionDenied}${exemptionDenial !== null && html` <q>${exemptionDenial}</q>`}
        </p>`,
      )
  }
}
