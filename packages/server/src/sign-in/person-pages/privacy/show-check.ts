/* What one check asks, of whom, why, and what an answer looks like. */
import { html, type Markup } from '../../pages/kit/markup.ts'
import { PAGE_PATHS } from '../../pages/kit/page.ts'
import { notice, statement } from '../../pages/kit/parts.ts'
import type { PageContent } from '../../pages/page-surface.ts'
import type { Texts } from '../../pages/texts/texts.ts'
import type { CataloguedCheck } from './check-catalogue-read.ts'
import type { KeptDays } from './kept-days.ts'
import { showKept } from './show-catalogue.ts'

const PLATFORM_NAMES: Readonly<Record<string, string>> = {
  darwin: 'macOS',
  windows: 'Windows',
  linux: 'Linux',
}

export interface ShownCheck {
  readonly check: CataloguedCheck
  readonly kept: KeptDays
  /** The last answer of the reader's own device; nothing where nobody is signed in. */
  readonly ownAnswer?: Markup
}

/** The page of a check in the privacy centre. */
export function showCheck({ check, kept, ownAnswer }: ShownCheck, texts: Texts): PageContent {
  const { privacy } = texts
  return {
    title: check.name,
    body: html`<div class="stack-wide">
      <div class="sheet stack-wide">
        ${statement({ tone: 'plain', picture: 'shield', sentence: check.name, more: html`<p>${check.description}</p>` })}
        ${check.privacyInfo !== '' && notice('plain', html`<p>${check.privacyInfo}</p>`)}
        <p>${privacy.consequence[check.strategy]}</p>
      </div>
      ${ownAnswer}
      <section class="sheet stack" aria-labelledby="asked">
        <h2 id="asked">${privacy.askedTitle}</h2>
        ${showQueries(check, texts)}
      </section>
      ${showExample(check, texts)}
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

function showExample({ exampleData }: CataloguedCheck, { privacy }: Texts): Markup {
  const isEmpty =
    typeof exampleData !== 'object' || exampleData === null || Object.keys(exampleData).length === 0
  if (isEmpty) return undefined
  return html`<section class="sheet stack" aria-labelledby="example">
    <h2 id="example">${privacy.exampleTitle}</h2>
    <pre tabindex="0" lang="en"><code>${JSON.stringify(exampleData, undefined, 2)}</code></pre>
  </section>`
}
