/* What is known of the devices of a person, who can see it, and what else was asked. */
import { html, type Markup } from '../../pages/kit/markup.ts'
import { linkButton, statement } from '../../pages/kit/parts.ts'
import { PAGE_PATHS } from '../../pages/kit/page.ts'
import { timeOf } from '../../pages/kit/times.ts'
import type { PageContent } from '../../pages/page-surface.ts'
import type { Language } from '../../pages/texts/language.ts'
import { textsOf, type Texts } from '../../pages/texts/texts.ts'
import { findCheckWords } from '../../shown-issues/find-check-words.ts'
import { maskRow } from '../../shown-issues/mask-row.ts'
import { ME_PATHS } from '../me/me-paths.ts'
import type { AskedLiveQuery, LastAnswer, Onlooker } from './my-data-read.ts'
import { privacyPathOf } from './show-catalogue.ts'

/** Everything that is known of the devices of a person. */
export interface MyData {
  readonly answers: readonly LastAnswer[]
  readonly onlookers: readonly Onlooker[]
  readonly liveQueries: readonly AskedLiveQuery[]
}

export function showMyData(data: MyData, language: Language): PageContent {
  const texts = textsOf(language)
  const { myData } = texts
  return {
    title: myData.title,
    body: html`<div class="stack-wide">
      <div class="sheet stack-wide">
        ${statement({ tone: 'plain', picture: 'shield', sentence: myData.sentence, more: html`<p>${myData.more}</p>` })}
        <div class="actions">
          ${linkButton(`${ME_PATHS.myData}/download`, myData.download, true)}
        </div>
      </div>
      <section class="sheet stack" aria-labelledby="who">
        <h2 id="who">${myData.whoTitle}</h2>
        ${showOnlookers(data, texts)}
      </section>
      <section class="sheet stack" aria-labelledby="asked">
        <h2 id="asked">${myData.liveTitle}</h2>
        ${showLiveQueries(data, texts, language)}
      </section>
      ${devicesOf(data).map(([name, answers]) => showAnswers(name, answers, texts, language))}
      <p><a href=${PAGE_PATHS.privacy}>${texts.privacy.allChecks}</a></p>
    </div>`,
  }
}

function devicesOf({ answers }: MyData): readonly (readonly [string, readonly LastAnswer[]])[] {
  const byDevice = Map.groupBy(answers, ({ deviceId }) => deviceId)
  return [...byDevice.values()].map((own) => [own[0]?.deviceName ?? '', own])
}

function showOnlookers({ onlookers }: MyData, { myData }: Texts): Markup {
  const groups = Map.groupBy(onlookers, ({ kind }) => kind)
  return [...groups].map(
    ([kind, members]) =>
      html`<h3>${myData.kinds[kind]}</h3>
        <div class="text">
          <ul>
            ${members.map(
              ({ name, detail }) =>
                html`<li>
                  ${name}${detail !== null && html` <span class="quiet">${kind === 'api_key' ? myData.responsible(detail) : kind === 'admin' ? myData.access(detail) : detail}</span>`}
                </li>`,
            )}
          </ul>
        </div>`,
  )
}

function showLiveQueries({ liveQueries }: MyData, { myData }: Texts, language: Language): Markup {
  if (liveQueries.length === 0) return html`<p>${myData.noLive}</p>`
  return html`<ul class="list">
    ${liveQueries.map(
      ({ name, sql, deviceName, answeredAt }) =>
        html`<li class="stack">
          <div class="row">
            <h3>${name}</h3>
            <span class="quiet small">${deviceName}, ${timeOf(answeredAt, language)}</span>
          </div>
          <pre tabindex="0" lang="en"><code>${sql}</code></pre>
        </li>`,
    )}
  </ul>`
}

function showAnswers(
  deviceName: string,
  answers: readonly LastAnswer[],
  { myData }: Texts,
  language: Language,
): Markup {
  const id = `device-${answers[0]?.deviceId ?? ''}`
  return html`<section class="sheet stack" aria-labelledby=${id}>
    <h2 id=${id}>${myData.answersTitle(deviceName)}</h2>
    <ul class="list">
      ${answers.map(
        ({ checkId, checkName, checkSlug, status, ranAt, rows }) =>
          html`<li class="stack">
            <div class="row">
              <h3>
                <a href=${privacyPathOf(checkId)}
                  >${findCheckWords(checkSlug, language)?.name ?? checkName}</a
                >
              </h3>
              <span class="quiet small"
                >${myData.statuses[status]}${ranAt !== null && html`, ${timeOf(ranAt, language)}`}</span
              >
            </div>
            ${rows.length > 0 && showRows(rows, `${id}-${checkId}`, myData)}
          </li>`,
      )}
    </ul>
  </section>`
}

/** Rows of one answer that are shown; the download has all. */
const ROWS_MAX = 20

function showRows(rows: LastAnswer['rows'], id: string, myData: Texts['myData']): Markup {
  const shown = rows.slice(0, ROWS_MAX).map(maskRow)
  return html`<details id=${id}>
    <summary>${myData.answer(rows.length)}</summary>
    <pre tabindex="0" lang="en"><code>${JSON.stringify(shown, undefined, 2)}</code></pre>
  </details>`
}

/** The same as data to keep. Secrets are masked in it as well: the person has them, and a file may be passed on. */
export function toMyDataFile({ answers, onlookers, liveQueries }: MyData, at: Date): object {
  return {
    made_at: at.toISOString(),
    answers: answers.map(({ deviceId, deviceName, checkId, checkName, status, ranAt, rows }) => ({
      device: { id: deviceId, name: deviceName },
      check: { id: checkId, name: checkName },
      status,
      ran_at: ranAt?.toISOString() ?? null,
      rows: rows.map(maskRow),
    })),
    seen_by: onlookers.map(({ kind, name, detail }) => ({ kind, name, detail })),
    live_queries: liveQueries.map(({ deviceName, name, sql, answeredAt }) => ({
      device: deviceName,
      name,
      sql,
      answered_at: answeredAt.toISOString(),
    })),
  }
}
