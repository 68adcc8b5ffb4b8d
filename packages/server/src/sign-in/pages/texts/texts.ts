import { de } from './de.ts'
import { en, type Texts } from './en.ts'
import type { Language } from './language.ts'

export type { Texts }

const CATALOGUE: Readonly<Record<Language, Texts>> = { en, de }

/** Everything that the pages say in a language. */
export function textsOf(language: Language): Texts {
  return CATALOGUE[language]
}
