/* The privacy centre for everybody: what is asked of devices, and what never is. */
import { html, type Markup } from '../../pages/kit/markup.ts'
import { PAGE_PATHS } from '../../pages/kit/page.ts'
import { facts, linkButton, statement } from '../../pages/kit/parts.ts'
import type { Language } from '../../pages/texts/language.ts'
import { textsOf, type Texts } from '../../pages/texts/texts.ts'
import { findCheckWords } from '../../shown-issues/find-check-words.ts'
import type { PageContent } from '../../pages/page-surface.ts'
import type { CataloguedCheck } from './check-catalogue-read.ts'
import type { KeptDays } from './kept-days.ts'

/** Where the answers of a check are explained. */
export function privacyPathOf(checkId: string): string {
  return `${PAGE_PATHS.privacy}/checks/${checkId}`
}

/** All checks, with what of a device each of them tells. */
export function showCatalogue(
  checks: readonly CataloguedCheck[],
  kept: KeptDays,
  language: Language,
): PageContent {
  const texts = textsOf(language)
  const { privacy } = texts
  return {
    title: texts.privacyCentre,
    body: html`<div class="stack-wide">
      <div class="sheet stack-wide">
        ${statement({ tone: 'plain', picture: 'shield', sentence: privacy.sentence, more: html`<p>${privacy.more}</p>` })}
        <div class="actions">
          ${linkButton(`${PAGE_PATHS.privacy}/my-data`, privacy.toMyData, true)}
        </div>
      </div>
      <section class="sheet stack" aria-labelledby="never">
        <h2 id="never">${privacy.neverTitle}</h2>
        <div class="text">
          <ul>
            ${privacy.never.map((each) => html`<li>${each}</li>`)}
          </ul>
        </div>
        <p class="quiet">${privacy.liveQueries}</p>
      </section>
      <section class="sheet stack" aria-labelledby="kept">
        <h2 id="kept">${privacy.keptTitle}</h2>
        ${showKept(kept, texts)}
      </section>
      <section class="sheet stack" aria-labelledby="checks">
        <h2 id="checks">${privacy.checksTitle(checks.length)}</h2>
        <ul class="list">
          ${byName(checks, language).map((check) => showEntry(check, language))}
        </ul>
      </section>
    </div>`,
  }
}

/** For how long what is known of a device is kept. */
export function showKept(kept: KeptDays, { privacy }: Texts): Markup {
  return facts([
    [privacy.keptAnswers, privacy.asLongAsDevice],
    [privacy.keptChanges, privacy.days(kept.checkTransitions)],
    [privacy.keptIssues, privacy.days(kept.resolvedIssues)],
    [privacy.keptSignIns, privacy.days(kept.signIns)],
  ])
}

/** In the order of their names as they are shown. */
function byName(checks: readonly CataloguedCheck[], language: Language): CataloguedCheck[] {
  const nameOf = ({ slug, name }: CataloguedCheck) => findCheckWords(slug, language)?.name ?? name
  return checks.toSorted((one, other) => nameOf(one).localeCompare(nameOf(other), language))
}

function showEntry(
  { id, slug, name, privacyInfo, description }: CataloguedCheck,
  language: Language,
): Markup {
  const words = findCheckWords(slug, language)
  return html`<li class="stack">
    <h3><a href=${privacyPathOf(id)}>${words?.name ?? name}</a></h3>
    <p class="quiet small">${words?.privacy ?? (privacyInfo === '' ? description : privacyInfo)}</p>
  </li>`
}
