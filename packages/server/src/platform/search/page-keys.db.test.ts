import { sql, type Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { countRowsRead } from '../../../test/support/rows-read.ts'
import { RecordList } from './record-list.ts'
import { referencedField } from './search-to-sql.ts'

const ROWS = 20_000
const NEAR_ROWS = 100

const list = new RecordList({
  noun: 'sample',
  table: 'sample',
  fields: {
    text: 'text',
    owner_name: {
      type: 'text',
      column: referencedField({ by: 'sample.owner_id', table: 'owner' }, sql.ref('owner.name')),
    },
    plain: { type: 'text', isRead: true },
    changed_at: { type: 'timestamp', isRead: true },
    dear: { type: 'text', column: 'plain', nearRows: NEAR_ROWS / 10 },
  },
  select: (db: Kysely<{ sample: { id: string } }>) => db.selectFrom('sample').select('id'),
  nearRows: NEAR_ROWS,
})

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await database.pool.query(`
    create table owner (id bigint primary key, name text not null);
    create table sample (id bigint primary key, text text, owner_id bigint, plain text, changed_at timestamptz);
    insert into owner select n, 'Owner ' || n from generate_series(1, 1000) n;
    insert into sample select n, case when n % 25 = 0 then 'often' when n % 500 = 1 then 'rare' else 'text' end,
        1 + n % 1000, case when n > ${ROWS} - ${NEAR_ROWS} and n % 20 = 0 then 'late' when n % 500 = 2 then 'rare' else 'plain' end,
        timestamptz '2026-01-01Z' + n * 7919 % ${ROWS} * interval '1 minute'
      from generate_series(1, ${ROWS}) n;
    create index on sample (text);
    create index on sample (owner_id);
    create index on owner (name)`)
  await database.pool.query('vacuum (analyze) sample, owner')
})
afterAll(() => database.close())

const newest = { afterId: undefined, limit: 11, isDescending: true }
const readRows = (search: string, isDescending = true) =>
  countRowsRead(database, { list, search, window: { ...newest, isDescending } })

describe('a page of a searched list', () => {
  it('is filled by the rows after its start where these let expect that, whatever the order, and not by all that match', async () => {
    const matches = ROWS / 25
    expect(await readRows('text:often')).toBeLessThan(matches / 2)
    expect(await readRows('text:often', false)).toBeLessThan(matches / 2)
  })

  it('is not filled by walking on where matches end behind a promising start', async () => {
    expect(await readRows('plain:late')).toBeLessThan(ROWS + 5 * NEAR_ROWS)
  })

  it('is looked for in fewer rows first by a field of which each takes long', async () => {
    expect(await readRows('dear:nothing')).toBeLessThanOrEqual(ROWS + NEAR_ROWS / 10)
    expect(await readRows('dear:nothing AND text:text')).toBeLessThanOrEqual(ROWS + NEAR_ROWS / 10)
  })

  it('reads rows without an index once, although more than a page of them match', async () => {
    for (const search of ['plain:rare', 'changed_at<"2026-01-01T00:30:00Z"']) {
      expect(await readRows(search), search).toBeLessThan(ROWS + 2 * NEAR_ROWS)
      expect(await readRows(search, false), search).toBeLessThan(ROWS + 2 * NEAR_ROWS)
    }
  })

  it('is found by the indexes of both sides of an or', async () => {
    for (const search of [
      'text:rare OR owner_name:"Owner 7"',
      '(text:rare OR owner_name:"Owner 7") AND plain:plain',
    ]) {
      expect(await readRows(search), search).toBeLessThan(1_000)
      expect(await readRows(search, false), search).toBeLessThan(1_000)
    }
  })

  it('reads rows once for both sides of an or that no index answers', async () => {
    expect(await readRows('plain:nothing OR changed_at<"2020-01-01"')).toBeLessThan(
      ROWS + 2 * NEAR_ROWS,
    )
  })
})
