/*
 * In which language a page speaks: the one that its reader has chosen, else the first of those that the browser asks
 * for and that there is a catalogue of.
 */

/** The languages that there is a catalogue of; the first is for everybody else. */
export const LANGUAGES = ['en', 'de'] as const

export type Language = (typeof LANGUAGES)[number]

/** How a language calls itself. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' }

/** The language of this name; undefined for any other text. */
export function findLanguage(name: string | undefined): Language | undefined {
  return LANGUAGES.find((language) => language === name)
}

/** More than anybody asks for. */
const RANGES_MAX = 20

/** The best language for an `Accept-Language` header (RFC 9110 section 12.5.4). */
export function chooseLanguage(acceptLanguage: string | undefined): Language {
  const ranges = (acceptLanguage ?? '').split(',', RANGES_MAX).map((part) => {
    const [range = '', ...parameters] = part.trim().toLowerCase().split(';')
    const quality = parameters.map((each) => /^\s*q=([\d.]+)\s*$/.exec(each)?.[1]).find(Boolean)
    return { name: range.split('-')[0], quality: Number(quality ?? 1) }
  })
  const wanted = ranges
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality)
  for (const { name } of wanted) {
    const language = findLanguage(name)
    if (language !== undefined) return language
  }
  return LANGUAGES[0]
}
