/*
 * That what a long list is searched by has an index that serves it, whatever field is added: a search that
 * finds nothing must not read the whole list. Rows are counted by PostgreSQL itself. The lists and their
 * fields come from the published document. Times and words of devices and people, parts of fewer than
 * three letters and what devices report have no index: they are read from the rows.
 */
import { sql, type RawBuilder } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { insertListData, type ListIds } from '../bench/list-data.ts'
import { findLists, TIME_FIELD, type ListDocument } from '../bench/list-searches.ts'
import { createAuditChainer } from '../src/changes/audit/chain/audit-chainer.ts'
import { hasUnsettledEntries } from '../src/changes/audit/chain/chain-store.ts'
import { startContractService, type ContractService } from './contract/contract-service.ts'

const ROWS = 12_000
/** More than every search looks at one by one; less than a whole list. */
const ROWS_READ_MAX = 7_500
/** Which devices were silent since a time is looked for once. */
const ROUNDS_READ_MAX = 1.5 * ROWS
const FOUND_MAX = 30
const TURNS_MAX = 3
/** What is no letter, a part the beginning of which many texts hold, and the beginning of a word. */
const RARE_PARTS = ['username', '/bin/', 'SN000099', ' q']
/** With an index for every field. */
const LONG_LISTS = ['/issues', '/auth_logs', '/audit_logs']
/** With an index for every text. */
const TEXT_LISTS = ['/devices', '/people', ...LONG_LISTS]
/** What devices share with many others. */
const OF_FEW_VALUES = /^device_type/
const CONNECTIONS = 2

let service: ContractService
let ids: ListIds

beforeAll(async () => {
  service = await startContractService({ HELIOGRAPH_DATABASE_POOL_MAX: String(CONNECTIONS) })
  const { db } = service.services
  ids = await insertListData(db, {
    devices: ROWS,
    people: ROWS,
    resultsPerDevice: 2,
    issues: ROWS,
    transitions: 10,
    authLogs: ROWS,
    auditEntries: ROWS,
    groups: 10,
    requests: 10,
    campaigns: 10,
    reportingRecords: 10,
  })
  // As on a database that has run for a while: with the words of audit entries in place before statistics are made of
  // them, and with what was added to the trigram indexes in its place.
  await summariseAuditTexts()
  await sql`vacuum analyze`.execute(db)
  // So few rows are read whole where that is quicker, with or without an index.
  await onEveryConnection(sql`set enable_seqscan = off`)
})

afterAll(() => service.close())

it('no search of a long list for what an index can find needs the whole list to be read', async () => {
  const lists = await findTextLists()
  const tooMany: object[] = []
  for (const { name, path, fields, searches } of lists) {
    const isIndexed = (field: string) =>
      LONG_LISTS.includes(name) ||
      (/[:~]$/.test(field) && !OF_FEW_VALUES.test(field) && !TIME_FIELD.test(field.slice(0, -1)))
    for (const field of fields.filter(isIndexed)) {
      for (const query of listRareSearches(field, searches)) {
        const read = await countRowsRead(
          `${path}?${new URLSearchParams({ query, per_page: '100' }).toString()}`,
        )
        if (isTooMany(read)) tooMany.push({ path, query, ...read })
      }
    }
  }
  expect(lists.map(({ name }) => name).sort()).toEqual([...TEXT_LISTS].sort())
  expect(tooMany).toEqual([])
})

it('no part that is too short for an index of texts has all entries of it read before the rows are', async () => {
  const read: string[] = []
  for (const { path, fields } of await findTextLists()) {
    for (const field of fields.filter((name) => name.endsWith('~'))) {
      for (const part of ['q', 'qz', 'é', 'éß']) {
        const before = await countTextEntries()
        const query = `${field}"${part}"`
        const url = `${path}?${new URLSearchParams({ query }).toString()}`
        const { statusCode } = await service.send({ method: 'GET', url, key: service.fullKey })
        expect([url, statusCode]).toEqual([url, 200])
        if ((await countTextEntries()) > before) read.push(query)
      }
    }
  }
  expect(read).toEqual([])
})

async function findTextLists() {
  const url = '/openapi_specifications/2026-04-07'
  const document = (await service.send({ method: 'GET', url, key: null })).json<ListDocument>()
  return findLists(document, ids).filter(({ name }) => TEXT_LISTS.includes(name))
}

/** What finds nothing or next to nothing; of fields that have words, every word. */
function listRareSearches(field: string, searches: readonly string[]): string[] {
  const own = searches.filter((query) => query.startsWith(field) && !/ (?:AND|OR) /.test(query))
  const rare = own.filter((query) => /qzxv|999999999$|"(?:2015|20[3-9]\d)-/.test(query))
  if (rare.length === 0) return own
  const isOfTexts = field.endsWith('~') && rare.some((query) => query.includes('qzxv'))
  return isOfTexts ? [...rare, ...RARE_PARTS.map((part) => `${field}"${part}"`)] : rare
}

interface RowsRead {
  readonly rows: number
  /** Those of the rounds of devices, which are few bytes each. */
  readonly rounds: number
}

function isTooMany({ rows, rounds }: RowsRead): boolean {
  return rows > ROWS_READ_MAX || rounds > ROUNDS_READ_MAX
}

/** As few as in the best of a few times: jobs of the service read rows as well, now and then. */
async function countRowsRead(url: string): Promise<RowsRead> {
  let read = await countRowsReadOnce(url)
  for (let turn = 1; turn < TURNS_MAX && isTooMany(read); turn += 1) {
    read = await countRowsReadOnce(url)
  }
  return read
}

async function countRowsReadOnce(url: string): Promise<RowsRead> {
  const before = await readStatistics()
  const answer = await service.send({ method: 'GET', url, key: service.fullKey })
  expect([url, answer.statusCode, answer.body]).toEqual([url, 200, answer.body])
  const found = answer.json<{ data: unknown[] }>().data.length
  // A word of many rows is looked for in the rows themselves.
  if (found > FOUND_MAX) return { rows: 0, rounds: 0 }
  const after = await readStatistics()
  return { rows: after.rows - before.rows, rounds: after.rounds - before.rounds }
}

/** Rows read so far, in tables and in indexes. */
async function readStatistics(): Promise<RowsRead> {
  await onEveryConnection(sql`select pg_stat_force_next_flush()`)
  const count = (isRound: boolean) => sql`(
    select sum(read)::float8 from (
      select relname, seq_tup_read as read from pg_stat_user_tables
      union all select relname, idx_tup_read from pg_stat_user_indexes
    ) one where (relname = 'device_round') = ${isRound})`
  const { rows } = await sql<RowsRead>`
    select ${count(false)} as rows, ${count(true)} as rounds`.execute(service.services.db)
  return rows[0] ?? { rows: 0, rounds: 0 }
}

/**
 * Entries that were found so far in indexes of the texts of a whole list; one of some rows stands for these as well.
 */
async function countTextEntries(): Promise<number> {
  await onEveryConnection(sql`select pg_stat_force_next_flush()`)
  const { rows } = await sql<{ count: string }>`
    select sum(idx_tup_read) as count
    from pg_stat_user_indexes join pg_index using (indexrelid)
      join pg_class on pg_class.oid = indexrelid join pg_am on pg_am.oid = relam
    where amname = 'gin' and indpred is null`.execute(service.services.db)
  return Number(rows[0]?.count)
}

async function summariseAuditTexts(): Promise<void> {
  const { db } = service.services
  const chainer = createAuditChainer(db, { logError: () => undefined })
  do await chainer.flush()
  while (await hasUnsettledEntries(db))
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
