import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { afterKey } from '../db/page.ts'
import { evaluateSearch } from '../../../test/support/evaluate-search.ts'
import { parseSearch } from './parse-search.ts'
import type { SearchField } from './search-field.ts'
import { searchToSql, type SearchColumns } from './search-to-sql.ts'

const fields: SearchField[] = [
  { name: 'id', type: 'id', operators: [':', '~'], list: true },
  { name: 'name', type: 'text', operators: [':', '~'], list: true },
  { name: 'seen_at', type: 'timestamp', operators: [':', '>', '<'] },
  { name: 'exempted', type: 'boolean', operators: [':'] },
  { name: 'result', type: 'enum', operators: [':', '~'], values: ['Success', 'Fail'] },
  { name: 'count', type: 'integer', operators: [':', '>', '<'] },
]
const columns: SearchColumns = Object.fromEntries(
  fields.map((field) => [field.name, sql.ref(`search_sample.${field.name}`)]),
)

interface Sample {
  id: string
  name: string | null
  seen_at: Date | null
  exempted: boolean
  result: string | null
  count: number
}

const NAMES = ['50% off', 'a_b', String.raw`back\slash`, 'Quote "x"', "O'Hara", 'Größe', null]
const samples: Sample[] = Array.from({ length: 70 }, (_, index) => ({
  id: String(index + 1),
  name: NAMES[index % NAMES.length] ?? null,
  seen_at: index % 5 === 0 ? null : new Date(Date.UTC(2026, 0, 1 + (index % 11))),
  exempted: index % 3 === 0,
  result: [null, 'Success', 'Fail'][index % 3] ?? null,
  count: index % 4,
}))

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await sql`create table search_sample (
    id bigint primary key, name text, seen_at timestamptz, exempted boolean, result text, count integer
  )`.execute(database.db)
  for (const row of samples) {
    await sql`insert into search_sample values
      (${row.id}, ${row.name}, ${row.seen_at}, ${row.exempted}, ${row.result}, ${row.count})
    `.execute(database.db)
  }
})
afterAll(async () => {
  await database.close()
})

async function findIds(text: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from search_sample where ${searchToSql(parseSearch(text, fields)!, columns)} order by id
  `.execute(database.db)
  return rows.map((row) => row.id)
}

const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

const nameText = fc.oneof(
  fc.constantFrom(...NAMES.filter((name) => name !== null)),
  fc.constantFrom('%', '_', '\\', 'o', 'A', '"', "'", 'zzz', ''),
)
const clause = fc.oneof(
  nameText.map((text) => `name~${quote(text)}`),
  nameText.map((text) => `name:${quote(text)}`),
  fc
    .array(nameText, { minLength: 1, maxLength: 3 })
    .map((texts) => `name:[${texts.map(quote).join(',')}]`),
  fc.constantFrom('id:7', 'id:[1,2,"x"]', 'id:abc', 'id~1', 'id:99999999999999999999'),
  fc.constantFrom('seen_at>2026-01-05', 'seen_at<"2026-01-05T00:00:00.000Z"', 'seen_at:2026-01-05'),
  fc.constantFrom('exempted:true', 'exempted:false', 'result:fail', 'result~ucc'),
  fc.constantFrom('count:2', 'count>1', 'count<1'),
)
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    clause,
    fc
      .tuple(tie('expression'), fc.constantFrom('AND', 'OR'), tie('expression'))
      .map((parts) => parts.join(' ')),
    tie('expression').map((inner) => `(${inner})`),
  ),
}))

describe('a search in the database', () => {
  it('finds exactly the records that the language means', async () => {
    await fc.assert(
      fc.asyncProperty(expression, async (text) => {
        const meant = samples.filter((row) =>
          evaluateSearch(parseSearch(text, fields)!, { ...row }),
        )
        expect(await findIds(text), text).toEqual(meant.map((row) => row.id))
      }),
      { numRuns: 300 },
    )
  })

  it('finds a time by what answers show of it, its milliseconds', async () => {
    const insertedAt = '2026-03-01T00:00:00.123999Z'
    await sql`insert into search_sample values (1000, 'late', ${insertedAt}::timestamptz, false, null, 0)`.execute(
      database.db,
    )
    onTestFinished(async () => {
      await sql`delete from search_sample where id = 1000`.execute(database.db)
    })
    expect(await findIds('seen_at:"2026-03-01T00:00:00.123Z"')).toEqual(['1000'])
    expect(await findIds('seen_at:"2026-03-01T00:00:00.122Z"')).toEqual([])
    expect(await findIds('seen_at:"2026-03-01T00:00:00.124Z"')).toEqual([])
  })

  it('pages through by key without a gap or a repeat', async () => {
    const seen: string[] = []
    let afterId: string | undefined
    for (;;) {
      const window = { afterId, limit: 9 }
      const { rows } = await sql<{ id: string }>`
        select id from search_sample where ${afterKey(sql.ref('id'), window)} order by id limit 9
      `.execute(database.db)
      seen.push(...rows.map((row) => row.id))
      afterId = rows.at(-1)?.id
      if (rows.length < 9) break
    }
    expect(seen).toEqual(samples.map((row) => row.id))
  })
})
