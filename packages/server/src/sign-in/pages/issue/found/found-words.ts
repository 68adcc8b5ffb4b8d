/*
 * What a built-in check found, in a sentence of the language of the page. Custom checks have none: their columns are
 * shown by their names.
 */
import type { OsqueryRow } from '../../../../schema/tables/column-types.ts'
import type { Platform } from '../../../../schema/tables/device-tables.ts'
import type { Language } from '../../texts/language.ts'
import { foundInGerman } from './found-de.ts'
import { foundInEnglish } from './found-en.ts'
import type { FoundWords, Sentence, Sentences } from './found-sentence.ts'

const WORDS: Readonly<Record<Language, Readonly<Record<string, FoundWords>>>> = {
  en: foundInEnglish,
  de: foundInGerman,
}

/** What was found: the answer of a device on a platform to a built-in check. */
export interface Finding {
  readonly checkSlug: string
  readonly platform: Platform | undefined
  /** Without its empty columns. */
  readonly row: OsqueryRow
}

/** The first sentence that fits the answer; undefined for checks that are not built in, and answers that none fits. */
export function findFoundWords(finding: Finding, language: Language): string | undefined {
  const words = Object.hasOwn(WORDS[language], finding.checkSlug)
    ? WORDS[language][finding.checkSlug]
    : undefined
  if (words === undefined) return undefined
  const sentence = listSentences(words, finding.platform).find((each) => fits(each, finding.row))
  return sentence === undefined ? undefined : fillIn(textOf(sentence), finding.row)
}

/** The sentences of a check for a platform. */
export function listSentences(
  words: FoundWords,
  platform: Platform | undefined,
): readonly Sentence[] {
  if (isSentences(words)) return typeof words === 'string' ? [words] : words
  if (platform !== 'darwin' && platform !== 'windows' && platform !== 'linux') return []
  const own = words[platform] ?? []
  return typeof own === 'string' ? [own] : own
}

function isSentences(words: FoundWords): words is Sentences {
  return typeof words === 'string' || Array.isArray(words)
}

function fits(sentence: Sentence, row: OsqueryRow): boolean {
  const wanted = typeof sentence === 'string' ? [] : Object.entries(sentence[0])
  const isAsWanted = wanted.every(([column, values]) =>
    [values].flat().includes((row[column] ?? '').toLowerCase()),
  )
  return isAsWanted && listColumns(textOf(sentence)).every((column) => (row[column] ?? '') !== '')
}

/** The sentence with the names of its columns in braces. */
export function textOf(sentence: Sentence): string {
  return typeof sentence === 'string' ? sentence : sentence[1]
}

/** The columns that a sentence names. */
export function listColumns(text: string): readonly string[] {
  return [...text.matchAll(COLUMN)].map(([, column = '']) => column)
}

const COLUMN = /\{(\w+)\}/g

function fillIn(text: string, row: OsqueryRow): string {
  return text.replace(COLUMN, (_, column: string) => row[column] ?? '')
}
