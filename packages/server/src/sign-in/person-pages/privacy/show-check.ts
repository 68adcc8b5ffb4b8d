/* What one check asks, of whom, why, and what an answer looks like. */
import { html, type Markup } from '../../pages/kit/markup.ts'
import { PAGE_PATHS } from '../../pages/kit/page.ts'
import { facts, linkButton, notice, statement } from '../../pages/kit/parts.ts'
import { timeOf } from '../../pages/kit/times.ts'
import { findFoundWords, type Finding } from '../../pages/issue/found/found-words.ts'
import type { PageContent } from '../../pages/page-surface.ts'
import type { Language } from '../../pages/texts/language.ts'
import { textsOf, type Texts } from '../../pages/texts/texts.ts'
import { CHECK_STATUS_COLUMN } from '../../../posture/checks/check-definition.ts'
import { AppError } from '../../../platform/app-error.ts'
import { renderTemplate, type TemplateVariables } from '../../../posture/checks/render-template.ts'
import { showMarkdown } from '../../pages/markdown/show-markdown.ts'
import { findExampleRows } from '../../../posture/checks/catalogue/example-rows.ts'
import type { Platform } from '../../../schema/tables/device-tables.ts'
import { findCheckWords } from '../../shown-issues/find-check-words.ts'
import { maskRow, maskWholeRow } from '../../shown-issues/mask-row.ts'
import { ownAnswerPath } from '../me/me-paths.ts'
import type { CataloguedCheck } from './check-catalogue-read.ts'
import type { KeptDays } from './kept-days.ts'
import type { LastAnswer } from './my-data-read.ts'
import { showKept } from './show-catalogue.ts'

const PLATFORM_NAMES: Readonly<Record<string, string>> = {
  darwin: 'macOS',
  windows: 'Windows',
  linux: 'Linux',
}

export interface ShownCheck {
  readonly check: CataloguedCheck
  readonly kept: KeptDays
  /** The last answers of the reader's own devices; undefined where nobody is signed in. */
  readonly answers: readonly LastAnswer[] | undefined
  readonly language: Language
}

/** The page of a check in the privacy centre. */
export function showCheck(shown: ShownCheck): PageContent {
  const { check, kept, language } = shown
  const texts = textsOf(language)
  const { privacy } = texts
  const words = findCheckWords(check.slug, language)
  const name = words?.name ?? check.name
  const privacyInfo = words?.privacy ?? check.privacyInfo
  return {
    title: name,
    body: html`<div class="stack-wide">
      <div class="sheet stack-wide">
        ${statement({ tone: 'plain', picture: 'shield', sentence: name, more: words === undefined && html`<p>${check.description}</p>` })}
        ${privacyInfo !== '' && notice('plain', html`<p>${privacyInfo}</p>`)}
        <p>${privacy.consequence[check.strategy]}</p>
      </div>
      ${showReason(shown, texts)} ${showOwnAnswers(shown, texts)}
      <section class="sheet stack" aria-labelledby="asked">
        <h2 id="asked">${privacy.askedTitle}</h2>
        ${showQueries(check, texts)}
      </section>
      ${showExample(shown, texts)}
      <section class="sheet stack" aria-labelledby="kept">
        <h2 id="kept">${privacy.keptTitle}</h2>
        ${showKept(kept, texts)}
      </section>
      <p><a href=${PAGE_PATHS.privacy}>${privacy.allChecks}</a></p>
    </div>`,
  }
}

function showQueries({ type, queries }: CataloguedCheck, { privacy }: Texts): Markup {
  const asked = Object.entries(queries)
  if (asked.length === 0) {
    return html`<p>${type === 'external' ? privacy.askedElsewhere : privacy.askedNothing}</p>`
  }
  return html`<p class="quiet">${privacy.askedMore}</p>
    ${asked.map(
      ([platform, query]) =>
        html`<h3>${PLATFORM_NAMES[platform] ?? platform}</h3>
          <pre tabindex="0" lang="en"><code>${query}</code></pre>`,
    )}`
}

/** Rows of one answer that are shown; the download has all. */
const ROWS_MAX = 20

/** What the reader's own devices answered last, as it was; for whoever is not signed in, the way to see it. */
function showOwnAnswers(
  { check, answers, language }: ShownCheck,
  { privacy, myData }: Texts,
): Markup {
  return html`<section class="sheet stack" aria-labelledby="own">
    <h2 id="own">${privacy.ownTitle}</h2>
    ${answers === undefined && html`<p>${linkButton(ownAnswerPath(check.id), privacy.ownSignIn)}</p>`}
    ${answers?.length === 0 && html`<p>${privacy.ownNone}</p>`}
    ${answers?.map(
      ({ deviceName, platform, checkSlug, status, ranAt, rows }) =>
        html`<div class="stack">
          <div class="row">
            <h3>${deviceName}</h3>
            <span class="quiet small"
              >${myData.statuses[status]}${ranAt !== null && html`, ${timeOf(ranAt, language)}`}</span
            >
          </div>
          ${rows.slice(0, ROWS_MAX).map((row) => showRow({ checkSlug, platform, row }, language))}
          ${rows.length > ROWS_MAX && html`<p class="quiet">${privacy.moreRows(rows.length - ROWS_MAX)}</p>`}
        </div>`,
    )}
  </section>`
}

/** A row as it was answered, secrets masked; with a sentence where the check failed and has one. */
function showRow(finding: Finding, language: Language): Markup {
  const { row } = finding
  const isFailing = row[CHECK_STATUS_COLUMN] === 'FAIL'
  const words = isFailing ? findFoundWords({ ...finding, row: maskRow(row) }, language) : undefined
  const pairs = Object.entries(maskWholeRow(row)).map(
    ([column, value]) => [html`<code>${column}</code>`, value === '' ? '–' : value] as const,
  )
  return html`<div class="found stack">
    ${words !== undefined && html`<p>${words}</p>`}
    <div lang="en">${facts(pairs)}</div>
  </div>`
}

/** Why it matters, of the same invented device as the example. */
function showReason({ check, language }: ShownCheck, texts: Texts): Markup {
  const { slug, name, rationaleTemplate, isRationaleCustom } = check
  const words = isRationaleCustom ? undefined : findCheckWords(slug, language)
  const [example] = Object.entries(findExampleRows(slug))
  const [platform, value] = example ?? ['darwin', {}]
  const text = renderOrNothing(words?.rationale ?? rationaleTemplate, {
    check: { name: words?.name ?? name },
    device: { name: INVENTED_DEVICE, platform },
    issue: { title: words?.title ?? name, value },
  })
  if (text === '') return undefined
  return html`<section class="sheet stack" aria-labelledby="why">
    <h2 id="why">${texts.privacy.whyTitle}</h2>
    <div class="text">${showMarkdown(text, texts)}</div>
    ${text.includes(INVENTED_DEVICE) && html`<p class="quiet small">${texts.privacy.whyMore(INVENTED_DEVICE)}</p>`}
  </section>`
}

const INVENTED_DEVICE = 'laptop1'

/** A text of an admin that cannot be rendered is left out. */
function renderOrNothing(template: string, variables: TemplateVariables): string {
  try {
    return renderTemplate(template, variables).trim()
  } catch (error) {
    if (error instanceof AppError) return ''
    throw error
  }
}

/** An invented answer for each platform; of custom checks what their authors gave. */
function showExample({ check, language }: ShownCheck, { privacy }: Texts): Markup {
  const { slug, queries, exampleData } = check
  const rows = findExampleRows(slug)
  const examples = Object.keys(queries).flatMap((platform) => {
    const row = rows[platform]
    return row === undefined ? [] : [{ platform: platform as Platform, row }]
  })
  const isEmpty =
    typeof exampleData !== 'object' || exampleData === null || Object.keys(exampleData).length === 0
  if (isEmpty && examples.length === 0) return undefined
  return html`<section class="sheet stack" aria-labelledby="example">
    <h2 id="example">${privacy.exampleTitle}</h2>
    ${examples.length > 0 && html`<p class="quiet">${privacy.exampleMore}</p>`}
    ${examples.map(
      ({ platform, row }) =>
        html`<h3>${PLATFORM_NAMES[platform] ?? platform}</h3>
          ${showRow({ checkSlug: slug, platform, row }, language)}`,
    )}
    ${!isEmpty && html`<pre tabindex="0" lang="en"><code>${JSON.stringify(exampleData, undefined, 2)}</code></pre>`}
  </section>`
}
