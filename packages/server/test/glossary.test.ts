/* The names of the code against the words of docs/glossary.md. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'

const FOLDERS = ['dispatch', 'streams'].map((folder) =>
  join(import.meta.dirname, '../src/signals', folder),
)
const GLOSSARY = join(import.meta.dirname, '../../../docs/glossary.md')

/** Words of programming in general and of English grammar, which need no definition. */
const GENERAL = new Set(
  `action active background body bounds claimed codec collection condition configuration context create dependencies details
  due field filter find finished id input kind known limits list moved name new on operation options origin part pause place
  prepare prepared page purpose random range read record recorded recorder report request requested reserved
  resource result route row rules schema selection sent settings share silent shifted state standard survey test time times
  urls user well work`
    .split(/\s+/)
    .filter((word) => word !== ''),
)

/** The terms of the glossary, each as its words in lower case. */
function readTerms(): string[][] {
  const rows = readFileSync(GLOSSARY, 'utf8').matchAll(/^\| ([^|]+?) +\|/gm)
  return [...rows]
    .map(([, term = '']) =>
      term
        .replace(/\(.*\)/, '')
        .replaceAll('`', '')
        .trim()
        .toLowerCase(),
    )
    .filter((term) => term !== 'word' && !term.startsWith('---'))
    .map((term) => term.split(/[ -]+/))
}

const TERMS = readTerms()

/** `InFlightSlots` is in, flight, slot: the plural is that of its word. */
function toWords(name: string): string[] {
  const words = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+/g) ?? []
  return words.map((word) => word.toLowerCase())
}

function isWord(word: string | undefined, of: string): boolean {
  return word === of || word === `${of}s` || word === of.replace(/y$/, 'ies')
}

/** Whether words can be read as terms of the glossary and general words, one after another. */
function isExplained(words: readonly string[]): boolean {
  const [first] = words
  if (first === undefined) return true
  if (GENERAL.has(first) && isExplained(words.slice(1))) return true
  return TERMS.some(
    (term) =>
      term.every((part, index) => isWord(words[index], part)) &&
      isExplained(words.slice(term.length)),
  )
}

interface ExportedName {
  readonly name: string
  readonly file: string
}

/** Types, interfaces, classes, and what factories create. */
function listExportedNouns(): ExportedName[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .flatMap((file) => {
        const text = readFileSync(join(folder, file), 'utf8')
        const names = text.matchAll(
          /^export (?:abstract )?(?:interface|type|class|(?:async )?function(?= create[A-Z])) (\w+)/gm,
        )
        return [...names].map(([, name = '']) => ({ name, file }))
      }),
  )
}

describe('the glossary', () => {
  it('defines each word once', () => {
    const terms = TERMS.map((term) => term.join(' '))
    expect(terms.length).toBeGreaterThan(50)
    expect(terms).toEqual([...new Set(terms)])
  })

  it('explains every exported noun of the delivery of events and of streams', () => {
    const nouns = listExportedNouns()
    expect(nouns.length).toBeGreaterThan(60)
    const unexplained = nouns.filter(({ name }) => !isExplained(toWords(name)))
    expect(unexplained).toEqual([])
  })
})

test.each(['DestinationPump', 'SubjectLanes', 'FlightSlots', 'ClaimLedger', 'createDeliveryHand'])(
  'a private word such as in %s is noticed',
  (name) => {
    expect(isExplained(toWords(name))).toBe(false)
  },
)
