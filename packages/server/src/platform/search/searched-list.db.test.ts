import fc from 'fast-check'
import { sql, type Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import type { Schema } from '../db/schema.ts'
import { evaluateSearch } from './evaluate-search.ts'
import { parseSearch } from './parse-search.ts'
import type { SearchField } from './search-field.ts'
import { readPage, type SearchedList } from './searched-list.ts'

const text = (name: string): SearchField => ({ name, type: 'text', operators: [':', '~'] })
const fields: SearchField[] = [
  text('few'),
  text('often_few'),
  text('different'),
  text('plain'),
  text('member'),
  text('owner_name'),
  { name: 'owner_id', type: 'id', operators: [':', '~'] },
  { name: 'began_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'changed_at', type: 'timestamp', operators: ['<', '>'] },
]

/** Every way in which a field can be indexed, and few rows that are looked at one by one. */
const list: SearchedList = {
  table: 'sample',
  key: 'id',
  fields,
  columns: {
    few: sql.ref('sample.few'),
    often_few: sql.ref('sample.often_few'),
    different: sql.ref('sample.different'),
    plain: sql.ref('sample.plain'),
    member: sql`(sample.members->>'a "b"')`,
    owner_name: sql.ref('owner.name'),
    owner_id: sql.ref('sample.owner_id'),
    began_at: sql.ref('sample.began_at'),
    changed_at: sql.ref('sample.changed_at'),
  },
  joins: sql`join owner on owner.id = sample.owner_id`,
  timelines: { began_at: 'began_at' },
  indexes: {
    few: 'values',
    often_few: 'values and trigrams',
    different: 'grams',
    member: { json: 'members', member: 'a "b"', scopedBy: 'scope', scope: 'one' },
    owner_name: { of: 'owner', column: 'name', by: 'owner_id', index: 'grams' },
    owner_id: { references: 'owner' },
  },
  reach: { nearRows: 5, fewMatches: 7, farRows: 9 },
}

const LONG = 'A very long text, the beginning of which is shared by others, and then it goes on: '
const FEW = ['1.5.0', '1.5.1', 'Istanbul', 'Chrome', '%', `${LONG}x`, null]
const DIFFERENT = ['a"b\\c', 'Größe', '10.0.0.1', 'ab', 'A', '', `${LONG}é`, 'x\ty\nz', 'q_%', null]
const OWNERS = ['Robin', 'Ada', 'ada', "O'Hara"]
/** Two zones apart in half of the steps, so that timelines have gaps. */
const ID_STEP = 2_500
const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 0, 1)

interface Sample {
  readonly id: string
  readonly few: string | null
  readonly often_few: string | null
  readonly different: string | null
  readonly plain: string
  readonly member: string | null
  readonly owner_id: string
  readonly owner_name: string
  readonly began_at: Date
  readonly changed_at: Date | null
}

const samples: Sample[] = Array.from({ length: 90 }, (_, index) => ({
  id: String((index + 1) * ID_STEP),
  // In stretches, so that what is sought is far behind the start of the page.
  few: FEW[Math.floor(index / 12) % FEW.length] ?? null,
  often_few: FEW[index % FEW.length] ?? null,
  different: DIFFERENT[Math.floor(index / 9) % DIFFERENT.length] ?? null,
  plain: `text ${index % 7}`,
  member: DIFFERENT[index % DIFFERENT.length] ?? null,
  owner_id: String(11 + (index % OWNERS.length)),
  owner_name: OWNERS[index % OWNERS.length] ?? '',
  // Grows with the key, but for a row here and there.
  began_at: new Date(START_MS + (index % 20 === 0 ? 90 - index : index) * DAY_MS),
  changed_at: index % 4 === 0 ? null : new Date(START_MS + (index % 11) * DAY_MS),
}))

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  const { db } = database
  await sql`create table owner (id bigint primary key, name text not null)`.execute(db)
  await sql`create table sample (id bigint primary key, few text, often_few text, different text,
    plain text, scope text, members jsonb, owner_id bigint, began_at timestamptz, changed_at timestamptz
  )`.execute(db)
  for (const [index, name] of OWNERS.entries()) {
    await sql`insert into owner values (${11 + index}, ${name})`.execute(db)
  }
  for (const row of samples) {
    const members = JSON.stringify(row.member === null ? {} : { 'a "b"': row.member, other: 'z' })
    await sql`insert into sample values (${row.id}, ${row.few}, ${row.often_few}, ${row.different},
      ${row.plain}, 'one', ${members}, ${row.owner_id}, ${row.began_at}, ${row.changed_at})`.execute(
      db,
    )
  }
})
afterAll(() => database.close())

async function readIds(source: Kysely<Schema>, search: string, window: Window): Promise<string[]> {
  const page = {
    search: parseSearch(search, fields),
    window,
    scope: sql<boolean>`sample.id <> 5000`,
  }
  return readPage(source, list, page, async (db, isOnPage) => {
    const { rows } = await sql<{ id: string }>`
      select id from sample where ${isOnPage} order by id limit ${window.limit}`.execute(db)
    return rows.map(({ id }) => id)
  })
}

interface Window {
  readonly afterId: string | undefined
  readonly limit: number
}

const quote = (value: string) => `"${value.replace(/["\\]/g, '\\$&')}"`
const known = [...FEW, ...DIFFERENT].filter((value) => value !== null)
const part = fc
  .tuple(
    fc.constantFrom(...known, 'text 3', 'istan', 'GRÖSSE'),
    fc.nat(90),
    fc.integer({ min: 0, max: 5 }),
  )
  .map(([value, from, length]) =>
    length === 0 ? value : value.slice(from % (value.length + 1)).slice(0, length),
  )
const time = fc
  .integer({ min: -1, max: 91 })
  .map((day) => new Date(START_MS + day * DAY_MS).toISOString())
const clause = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('few', 'often_few', 'different', 'plain', 'member'),
      fc.constantFrom('~', ':'),
      part,
    )
    .map(([field, operator, value]) => `${field}${operator}${quote(value)}`),
  fc.constantFrom(
    'owner_name~ada',
    'owner_name:Ada',
    'owner_name~"nobody"',
    'owner_id~3',
    'owner_id:12',
  ),
  fc
    .tuple(fc.constantFrom('began_at', 'changed_at'), fc.constantFrom('<', '>'), time)
    .map(([field, operator, value]) => `${field}${operator}"${value}"`),
)
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    clause,
    fc
      .tuple(tie('expression'), fc.constantFrom('AND', 'OR'), tie('expression'))
      .map((parts) => parts.join(' ')),
    tie('expression').map((inner) => `(${inner})`),
  ),
}))

describe('a page of a searched list', () => {
  it('holds the first matches after its start, however far they are and however they are indexed', async () => {
    const start = fc.option(fc.integer({ min: 0, max: 91 * ID_STEP }), { nil: undefined })
    await fc.assert(
      fc.asyncProperty(
        expression,
        start,
        fc.integer({ min: 1, max: 20 }),
        async (search, after, limit) => {
          const meant = samples
            .filter(({ id }) => id !== '5000' && Number(id) > (after ?? -1))
            .filter((row) => evaluateSearch(parseSearch(search, fields)!, { ...row }))
            .slice(0, limit)
          const window = { afterId: after === undefined ? undefined : String(after), limit }
          const found = await readIds(database.db, search, window)
          expect(found, search).toEqual(meant.map(({ id }) => id))
        },
      ),
      { numRuns: 600 },
    )
  }, 120_000)

  it('is read from one state of the database', async () => {
    const levels = await readPage(
      database.db,
      list,
      { search: parseSearch('plain~text', fields), window: { afterId: undefined, limit: 1 } },
      async (source) => {
        const { rows } = await sql<{ level: string }>`
          select current_setting('transaction_isolation') as level`.execute(source)
        return rows.map(({ level }) => level)
      },
    )
    expect(levels).toEqual(['repeatable read'])
  })
})
