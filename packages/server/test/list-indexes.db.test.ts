/*
 * That every field which a list can be searched by has an index that serves it, whatever list or field
 * is added: a search that finds nothing must not read the whole list. Rows are counted by PostgreSQL
 * itself. The lists and their fields come from the published document.
 */
import { sql, type RawBuilder } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { insertListData, type ListIds } from '../bench/list-data.ts'
import { findLists, type ListDocument } from '../bench/list-searches.ts'
import { REPORTING_TABLES } from '../src/posture/reporting/reporting-tables.ts'
import { toRecordFields } from '../src/posture/reporting/table-record-read.ts'
import { startContractService, type ContractService } from './contract/contract-service.ts'

const ROWS = 12_000
/** More than every search looks at one by one, with the members of a group; less than a whole list. */
const ROWS_READ_MAX = 7_500
const FOUND_MAX = 30
/**
 * One letter, two, what is no letter, what the names of other fields hold, and a part the beginning of
 * which many texts hold.
 */
const RARE_PARTS = ['q', 'z', 'qz', '=', 'username', '/bin/', 'SN000099']
/** What admins write themselves: hundreds of rows, whose texts have trigram indexes. Checks are too. */
const SHORT_LISTS = [
  '/admin_users',
  '/checks',
  '/custom_check_drafts',
  '/device_groups',
  '/person_groups',
  '/people/{id}/person_groups',
  '/live_query_campaigns',
]
const CONNECTIONS = 2

let service: ContractService
let ids: ListIds

beforeAll(async () => {
  service = await startContractService({ HELIOGRAPH_DATABASE_POOL_MAX: String(CONNECTIONS) })
  const { db } = service.services
  const many = await insertListData(db, {
    devices: ROWS,
    people: ROWS,
    resultsPerDevice: 2,
    issues: ROWS,
    transitions: 10,
    authLogs: ROWS,
    auditEntries: ROWS,
    groups: ROWS,
    requests: ROWS,
    campaigns: ROWS,
    reportingRecords: ROWS,
  })
  // The first groups have so many members that these alone would be most of what is read.
  const next = (id = '') => String(Number(id) + 1)
  ids = {
    ...many,
    '/device_groups': next(many['/device_groups']),
    '/person_groups': next(many['/person_groups']),
  }
  await sql`
    insert into posture_check (slug, name, description, issue_title, type, is_built_in, platforms,
      remediation_strategy, created_at, updated_at)
    select 'more-' || n, 'Another check ' || n, 'Part ' || n, 'Part ' || n || ' is missing',
      'external', false, '{linux}', 'notify_only', now(), now()
    from generate_series(1, ${ROWS}::int) n`.execute(db)
  await sql`
    insert into admin_user (first_name, last_name, email, access, created_at, updated_at)
    select 'Ada', 'Number ' || n, 'ada' || n || '@example.com', 'limited', now(), now()
    from generate_series(1, ${ROWS}::int) n`.execute(db)
  // With what was added to the trigram indexes in its place, as on a database that has run for a while.
  await sql`vacuum analyze`.execute(db)
  // So few rows are read whole where that is quicker, with or without an index.
  await onEveryConnection(sql`set enable_seqscan = off`)
}, 120_000)

afterAll(() => service.close())

it('no searchable field of any list needs the whole list to be read', async () => {
  const table = REPORTING_TABLES.find(({ name }) => name === ids['/reporting/tables'])
  const recordFields = table === undefined ? [] : toRecordFields(table)
  const url = '/openapi_specifications/2026-04-07'
  const document = (await service.send({ method: 'GET', url, key: null })).json<ListDocument>()
  const lists = findLists(document, ids, {
    '/reporting/tables/{name}/table_records': recordFields.flatMap(({ name, operators }) =>
      operators.map((operator) => `${name}${operator}`),
    ),
  })
  const tooMany: string[] = []
  for (const { name, path, fields, searches } of lists) {
    for (const field of fields) {
      const isShort = SHORT_LISTS.includes(name) || field === 'check_name~'
      const parts = isShort ? [] : RARE_PARTS
      for (const query of listRareSearches(field, searches, parts)) {
        const rows = await countRowsRead(
          `${path}?${new URLSearchParams({ query, per_page: '100' }).toString()}`,
        )
        if (rows > ROWS_READ_MAX) tooMany.push(`${path} ${query}: ${rows} rows`)
      }
    }
  }
  expect(tooMany).toEqual([])
}, 240_000)

/** What finds nothing or next to nothing; of fields that have words, every word. */
function listRareSearches(
  field: string,
  searches: readonly string[],
  parts: readonly string[],
): string[] {
  const own = searches.filter((query) => query.startsWith(field) && !/ (?:AND|OR) /.test(query))
  const rare = own.filter((query) => /qzxv|999999999$|"(?:2015|20[3-9]\d)-/.test(query))
  if (rare.length === 0) return own
  const isOfTexts = field.endsWith('~') && rare.some((query) => query.includes('qzxv'))
  return isOfTexts ? [...rare, ...parts.map((part) => `${field}"${part}"`)] : rare
}

async function countRowsRead(url: string): Promise<number> {
  const before = await readStatistics()
  const answer = await service.send({ method: 'GET', url, key: service.fullKey })
  expect([url, answer.statusCode, answer.body]).toEqual([url, 200, answer.body])
  const found = answer.json<{ data: unknown[] }>().data.length
  // A word of many rows is looked for in the rows themselves.
  return found > FOUND_MAX ? 0 : (await readStatistics()) - before
}

/** Rows read so far, in tables and in indexes. */
async function readStatistics(): Promise<number> {
  await onEveryConnection(sql`select pg_stat_force_next_flush()`)
  const { rows } = await sql<{ count: string }>`
    select (select sum(seq_tup_read) from pg_stat_user_tables)
      + (select sum(idx_tup_read) from pg_stat_user_indexes) as count`.execute(service.services.db)
  return Number(rows[0]?.count)
}

/** Each reports its statistics by itself, and has settings of its own. */
async function onEveryConnection(statement: RawBuilder<unknown>): Promise<void> {
  const { pool, db } = service.services
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.connect()))
  const { sql: text } = statement.compile(db)
  for (const client of clients) {
    await client.query(text)
    client.release()
  }
}
