import fc from 'fast-check'
import { Kysely, PostgresDialect, sql, type SqlBool } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import type { PageWindow } from '../db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import { evaluateSearch } from '../../../test/support/evaluate-search.ts'
import { parseSearch } from './parse-search.ts'
import type { SearchClause } from './search-field.ts'
import {
  clauseToSql,
  foreignKeyField,
  referencedField,
  type ConditionUse,
  type KeyReach,
} from './search-to-sql.ts'
import { fewTextsField, summarisedText } from './text-fields.ts'
import type { PageSought } from './page-sought.ts'
import { RecordList } from './record-list.ts'

const OWNER = { by: 'sample.owner_id', table: 'owner' }

/** Rows whose keys differ by less than this are found together. */
const BLOCK_SIZE = 20_000

function hasText(clause: SearchClause, use: ConditionUse, reach: KeyReach) {
  const isMatch = clauseToSql(sql.ref('sample.in_block'), clause)
  if (use !== 'found') return isMatch
  const isReached = reach.has(
    sql.ref('block'),
    (key) => sql`${key}::bigint / ${BLOCK_SIZE}::bigint`,
  )
  return sql<SqlBool>`(exists (select from sample_block
    where block = sample.id / ${BLOCK_SIZE}::bigint and ${isReached}) and ${isMatch})`
}

/** A row of some blocks, whatever its text is. */
function inLastBlocks(reach: KeyReach) {
  const isReached = reach.has(
    sql.ref('block'),
    (key) => sql`${key}::bigint / ${BLOCK_SIZE}::bigint`,
  )
  return sql`sample.id / ${BLOCK_SIZE}::bigint = any(array(
    select block from sample_block where ${isReached} order by block desc limit 2))`
}

/** Most rows changed after they began, but some did before. */
function beganBefore({ operator, values: [time] }: SearchClause, isDescending: boolean) {
  if (operator === ':') return undefined
  return isDescending
    ? sql`sample.began_at < ${time} order by sample.began_at desc`
    : sql`sample.began_at > ${time} order by sample.began_at`
}

/** Some of which are, and some of which are not where the first matches are. */
function toLikelySamples(clauses: readonly SearchClause[], { isDescending, reach }: PageSought) {
  const changed = clauses.find(({ field }) => field.name === 'changed_at')
  if (changed !== undefined) return beganBefore(changed, isDescending)
  return clauses.some(({ field }) => field.name === 'in_block') ? inLastBlocks(reach) : undefined
}

/** Every kind of field, with and without an index, and few rows that are looked at one by one. */
const DECLARATION = {
  noun: 'sample',
  table: 'sample',
  fields: {
    few: 'text',
    often_few: {
      type: 'text',
      column: fewTextsField({ table: 'sample', column: 'often_few' }),
    },
    different: 'text',
    whole: {
      type: 'text',
      column: 'different',
      alone: summarisedText({ column: 'sample.different', key: sql`(sample.id + 0)` }),
    },
    plain: 'text',
    in_block: { type: 'text', column: hasText },
    member: { type: 'text', column: sql`(sample.members->>'a "b"')` },
    owner_name: { type: 'text', column: referencedField(OWNER, sql.ref('owner.name')) },
    owner_id: { type: 'id', operators: [':', '~'], column: foreignKeyField(OWNER) },
    began_at: 'timestamp',
    changed_at: 'timestamp',
  },
  scope: sql<SqlBool>`sample.id <> 5000`,
  likelyRows: toLikelySamples,
  select: (db: Kysely<{ sample: { id: string } }>) => db.selectFrom('sample').select('id'),
  nearRows: 5,
} as const
const list = new RecordList(DECLARATION)
/** With times that summaries of pages hold. */
const summarised = new RecordList({ ...DECLARATION, timeKey: sql`(sample.id + 0)` })
/** With fields that are read in the order of the key, one of them in some of its clauses. */
const unindexed = new RecordList({
  ...DECLARATION,
  fields: {
    ...DECLARATION.fields,
    few: { type: 'text', isRead: true },
    plain: { type: 'text', isRead: ({ operator }) => operator === ':' },
    // In an order of its own: few matches are sorted, and more are found in the order of the key.
    began_at: { type: 'timestamp', isRead: 'if many' },
  },
})
const { fields } = list

const LONG = 'A very long text, the beginning of which is shared by others, and then it goes on: '
const LONGEST = `${'Yes '.repeat(1_100)}no`
const FEW = ['1.5.0', '1.5.1', 'Istanbul', 'Chrome', '%', `${LONG}x`, null]
const DIFFERENT = [
  'a"b\\c',
  'Größe',
  '10.0.0.1',
  'ab',
  'A',
  '',
  `${LONG}é`,
  'x\ty\nz',
  'q_%',
  null,
  LONGEST,
  'k🙂🙃K',
  '\u0001\u0002\u0001',
  'SN000424',
]
const OWNERS = ['Robin', 'Ada', 'ada', "O'Hara"]
const ID_STEP = 2_500
const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 0, 1)

interface Sample {
  readonly id: string
  readonly few: string | null
  readonly often_few: string | null
  readonly different: string | null
  readonly whole: string | null
  readonly plain: string
  readonly in_block: string
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
  different: DIFFERENT[Math.floor(index / 6) % DIFFERENT.length] ?? null,
  whole: DIFFERENT[Math.floor(index / 6) % DIFFERENT.length] ?? null,
  plain: `text ${index % 7}`,
  in_block: `text ${Math.floor(index / 9) % 2}`,
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
    plain text, in_block text, scope text, members jsonb, owner_id bigint, began_at timestamptz, changed_at timestamptz
  )`.execute(db)
  await sql`create table sample_block (block bigint primary key)`.execute(db)
  await sql`insert into sample_block select generate_series(0, 100)`.execute(db)
  await sql`create index on sample using gin (different gin_trgm_ops)`.execute(db)
  await sql`create index on sample using brin (different collate "C" text_bloom_ops, (id + 0))`.execute(
    db,
  )
  await sql`create index on sample (began_at, id)`.execute(db)
  await sql`create index on sample (left(often_few, 64))`.execute(db)
  await sql`create index on owner using gin (name gin_trgm_ops)`.execute(db)
  for (const [index, name] of OWNERS.entries()) {
    await sql`insert into owner values (${11 + index}, ${name})`.execute(db)
  }
  for (const row of samples) {
    const members = JSON.stringify(row.member === null ? {} : { 'a "b"': row.member, other: 'z' })
    await sql`insert into sample values (${row.id}, ${row.few}, ${row.often_few}, ${row.different},
      ${row.plain}, ${row.in_block}, 'one', ${members}, ${row.owner_id}, ${row.began_at}, ${row.changed_at})`.execute(
      db,
    )
  }
})
afterAll(() => database.close())

async function readIds(
  source: Kysely<Schema>,
  search: string,
  window: Window,
  from = list,
): Promise<string[]> {
  const db = source as Kysely<unknown> as Kysely<{ sample: { id: string } }>
  const rows = await from.listPage(db, { search: parseSearch(search, fields), window })
  return rows.map(({ id }) => id)
}

type Window = PageWindow

const quote = (value: string) => `"${value.replace(/["\\]/g, '\\$&')}"`
const known = [...FEW, ...DIFFERENT].filter((value) => value !== null)
const part = fc
  .tuple(
    fc.constantFrom(...known, 'text 3', 'istan', 'GRÖSSE', 'sn0004249', 'zz', '🙂🙂', 'ö', 'es no'),
    fc.oneof(fc.nat(90), fc.nat(5_000)),
    fc.integer({ min: 0, max: 6 }),
  )
  .map(([value, from, length]) => {
    const letters = Array.from(value)
    const start = from % (letters.length + 1)
    return length === 0 ? value : letters.slice(start, start + length).join('')
  })
  .filter((value) => Buffer.byteLength(value) < 1_000)
const time = fc
  .integer({ min: -1, max: 91 })
  .map((day) => new Date(START_MS + day * DAY_MS).toISOString())
const clause = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('few', 'often_few', 'different', 'whole', 'plain', 'in_block', 'member'),
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
    .tuple(fc.constantFrom('began_at', 'changed_at'), fc.constantFrom(':', '<', '>'), time)
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

/** What a page shall hold, by the plain meaning of the search. */
function listMeant(search: string, { afterId, limit, isDescending = false }: Window): string[] {
  const isBehind = (id: string) =>
    afterId === undefined ||
    (isDescending ? Number(id) < Number(afterId) : Number(id) > Number(afterId))
  return (isDescending ? samples.toReversed() : samples)
    .filter(({ id }) => id !== '5000' && isBehind(id))
    .filter((row) => evaluateSearch(parseSearch(search, fields)!, { ...row }))
    .slice(0, limit)
    .map(({ id }) => id)
}

const start = fc.option(fc.integer({ min: 0, max: 91 * ID_STEP }).map(String), { nil: undefined })

describe('a page of a searched list', () => {
  it('holds the first matches after its start, however far they are and however they are indexed', async () => {
    await fc.assert(
      fc.asyncProperty(
        expression,
        start,
        fc.integer({ min: 1, max: 20 }),
        fc.boolean(),
        fc.constantFrom(list, summarised, unindexed),
        async (search, afterId, limit, isDescending, from) => {
          const window = { afterId, limit, isDescending }
          const found = await readIds(database.db, search, window, from)
          expect(found, search).toEqual(listMeant(search, window))
        },
      ),
      { numRuns: 900 },
    )
  })

  it('holds the first matches, whether they are where the list thinks that they are or not', async () => {
    const changed = fc
      .tuple(fc.constantFrom('<', '>'), time)
      .map(([operator, at]) => `changed_at${operator}"${at}"`)
    const search = fc.oneof(
      changed,
      fc.tuple(changed, changed).map((clauses) => clauses.join(' AND ')),
      fc.tuple(changed, clause).map((clauses) => clauses.join(' AND ')),
      fc.tuple(clause, changed).map((clauses) => clauses.join(' OR ')),
      fc.tuple(clause, clause, changed).map(([a, b, c]) => `(${a} OR ${b}) AND ${c}`),
      fc.constantFrom('in_block~"text 0"', 'in_block~"text 1"', 'in_block~"text"'),
    )
    await fc.assert(
      fc.asyncProperty(
        search,
        start,
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        fc.constantFrom(list, summarised),
        async (text, afterId, limit, isDescending, from) => {
          const window = { afterId, limit, isDescending }
          expect(await readIds(database.db, text, window, from), text).toEqual(
            listMeant(text, window),
          )
        },
      ),
      { numRuns: 300 },
    )
  })

  it('loses and repeats none of the rows that stay while others come and go between pages', async () => {
    const isGone = (id: string) => Number(id) % (4 * ID_STEP) === 0
    await fc.assert(
      fc.asyncProperty(clause, fc.integer({ min: 1, max: 9 }), async (search, limit) => {
        const { db } = database
        const meant = samples
          .filter(({ id }) => id !== '5000' && !isGone(id))
          .filter((row) => evaluateSearch(parseSearch(search, fields)!, { ...row }))
        await sql`create table if not exists aside as select * from sample where false`.execute(db)
        const seen: string[] = []
        let afterId: string | undefined
        for (let page = 0; ; page += 1) {
          const ids = await readIds(db, search, { afterId, limit })
          seen.push(...ids)
          if (ids.length < limit) break
          afterId = ids.at(-1)
          const [from, to] = page % 2 === 0 ? ['sample', 'aside'] : ['aside', 'sample']
          await sql`with gone as (
              delete from ${sql.table(from)} where id % ${4 * ID_STEP}::bigint = 0 returning *
            ) insert into ${sql.table(to)} select * from gone`.execute(db)
        }
        await sql`with back as (delete from aside returning *)
          insert into sample select * from back`.execute(db)
        expect(new Set(seen).size, search).toBe(seen.length)
        const stayed = seen.filter((id) => !isGone(id))
        expect(stayed, search).toEqual(meant.map(({ id }) => id))
      }),
      { numRuns: 60 },
    )
  })

  it('holds the first matches of a search by one text alone, whatever is in it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...DIFFERENT.filter((value) => value !== null && value.length < 500)),
        start,
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        fc.constantFrom(list, summarised),
        async (value, afterId, limit, isDescending, from) => {
          const window = { afterId, limit, isDescending }
          const search = `whole:${quote(value ?? '')}`
          expect(await readIds(database.db, search, window, from), search).toEqual(
            listMeant(search, window),
          )
        },
      ),
      { numRuns: 200 },
    )
  })

  it('is read by one statement, and so from one state of the database', async () => {
    const texts: string[] = []
    const source = new Kysely<Schema>({
      dialect: new PostgresDialect({ pool: database.pool }),
      log: ({ query }) => void texts.push(query.sql),
    })
    await readIds(source, 'plain~text', { afterId: undefined, limit: 1 })
    expect(texts).toHaveLength(1)
  })
})
