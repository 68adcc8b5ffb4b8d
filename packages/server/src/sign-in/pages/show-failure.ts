import type { AppError } from '../../platform/app-error.ts'
import { html } from './kit/markup.ts'
import { PAGE_PATHS } from './kit/page.ts'
import { linkButton, statement } from './kit/parts.ts'
import type { Language } from './texts/language.ts'
import { textsOf, type Texts } from './texts/texts.ts'

export interface Failure {
  readonly language: Language
  /** Undefined for a fault of the service. */
  readonly refusal: AppError | undefined
  readonly requestId: string
}

/** The page that says that something did not work, and what can be done. */
export function showFailure({ language, refusal, requestId }: Failure) {
  const texts = textsOf(language)
  const isMissing = refusal?.kind === 'not_found' || refusal?.code === 'method_not_allowed'
  const { failure } = texts
  const [sentence, more] = isMissing
    ? [failure.notFound, failure.notFoundMore]
    : wordsOf(refusal, texts)
  return {
    title: isMissing ? failure.notFoundTitle : failure.title,
    body: html`<div class="sheet stack-wide">
      ${statement({ tone: 'bad', sentence, more: html`<p>${more}</p>` })}
      ${isMissing && html`<div class="actions">${linkButton(PAGE_PATHS.own, failure.toMyDevices, true)}</div>`}
      <p class="quiet small">${failure.reference(requestId)}</p>
    </div>`,
  }
}

function wordsOf(refusal: AppError | undefined, { failure }: Texts): readonly [string, string] {
  if (refusal === undefined || refusal.kind === 'unavailable') {
    return [failure.unavailable, failure.unavailableMore]
  }
  if (refusal.code === 'cross_site_request') return [failure.refused, failure.foreign]
  return [failure.refused, refusal.message]
}
