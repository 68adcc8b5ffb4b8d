/*
 * The account of the requirements on an SSF transmitter that are MUST or SHOULD: each has a test whose
 * title begins with its number, or a reason why there is nothing to test.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const PACKAGES = join(import.meta.dirname, '../..')

/** By their numbers, in the order of SSF 1.0, RFC 8417, 9493, 8935, 8936 and CAEP 1.0. */
const REQUIRED: readonly number[] = [
  ...range(1, 9),
  ...range(12, 31),
  ...range(34, 42),
  ...range(44, 51),
  ...range(53, 55),
  ...range(58, 96),
  98,
  ...range(100, 103),
  ...range(105, 106),
  ...range(110, 113),
  115,
  ...range(116, 122),
  ...range(124, 133),
  ...range(135, 140),
  ...range(142, 145),
  ...range(150, 153),
]

/** Where nothing of the service could be observed. */
const NOT_TESTED: Readonly<Record<number, string>> = {
  34: 'that TLS 1.2 is the oldest version is tested under the name of the metadata module',
  36: 'consent is between an organisation and its people',
  87: 'published in docs/ssf.md',
  96: 'what a receiver may have is decided by who creates its client',
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

function listTests(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : listTests(path)
    return entry.name.endsWith('.test.ts') || entry.name === 'set-checks.ts' ? [path] : []
  })
}

const tested = new Set(
  listTests(PACKAGES)
    .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/ssf-T(\d{3})/g)])
    .map(([, number]) => Number(number)),
)

describe('requirements on a transmitter', () => {
  it('that are MUST or SHOULD have a test each', () => {
    const missing = REQUIRED.filter((number) => !tested.has(number) && !(number in NOT_TESTED))
    expect(missing).toEqual([])
  })

  it('are not excused where they are tested', () => {
    const both = Object.keys(NOT_TESTED).filter((number) => tested.has(Number(number)))
    expect(both).toEqual([])
  })
})
