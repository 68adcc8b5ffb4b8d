import type { Language } from '../pages/texts/language.ts'
import type { CheckWords } from './german/check-words.ts'
import { GERMAN_CHECKS } from './german/index.ts'

/**
 * What a built-in check says in a language other than English; undefined for English, which the check itself says, and
 * for checks that are not built in.
 */
export function findCheckWords(
  slug: string,
  language: Language | undefined,
): CheckWords | undefined {
  return language === 'de' && Object.hasOwn(GERMAN_CHECKS, slug) ? GERMAN_CHECKS[slug] : undefined
}
