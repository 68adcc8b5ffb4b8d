/*
 * What the pages of a list hold, for any data and any search: exactly the rows that the plain meaning
 * of the search (evaluate-search.ts) finds, each once, in order, also while rows come and go.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEVICE_LIST, DEVICE_TYPES } from '../src/posture/devices/device-read.ts'
import { deviceRoutes } from '../src/posture/devices/device-routes.ts'
import { ISSUE_LIST } from '../src/posture/issues/issue-read.ts'
import { issueRoutes } from '../src/posture/issues/issue-routes.ts'
import { evaluateSearch, type SearchableRecord } from './support/evaluate-search.ts'
import { parseSearch } from '../src/platform/search/parse-search.ts'
import type { SearchField, SearchOperator } from '../src/platform/search/search-field.ts'
import { BASE_URL, createTestApi, type TestApi } from './support/api-app.ts'
import { insertCheck, insertDevice, insertIssue } from './support/factories.ts'
import type { TestPage } from './support/read-contract.ts'
import { countRuns } from './support/count-runs.ts'
import { emptyTables } from './support/empty-tables.ts'

const RUNS = countRuns(30)
const ROWS_MAX = 25

/** Few values, so that they meet; with what LIKE, quoting and case give a meaning to. */
const TEXTS = [
  'a',
  'A',
  'ab',
  'aB',
  'b%',
  '%',
  '_',
  'a_b',
  '\\',
  'a\\b',
  '"',
  'a "b" c',
  ' ',
  'é',
  '0',
]
const TIMES = ['2026-01-01T00:00:00.000Z', '2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.679Z']
const PLATFORMS = ['darwin', 'linux', 'windows', 'ios', 'android'] as const

const text = fc.constantFrom(...TEXTS)
const optionalText = fc.option(text, { nil: null })
const time = fc.constantFrom(...TIMES).map((each) => new Date(each))
const optionalTime = fc.option(time, { nil: null })

/** A list under test: how its rows are made, and what each is searched by. */
interface ListUnderTest<Row> {
  readonly path: string
  readonly fields: readonly SearchField[]
  readonly row: fc.Arbitrary<Row>
  readonly insert: (row: Row) => Promise<string>
  readonly remove: (id: string) => Promise<unknown>
  readonly searchable: (id: string, row: Row) => SearchableRecord
}

let api: TestApi
let checkIds: string[]
let deviceIds: string[]

beforeAll(async () => {
  api = await createTestApi(({ db }) => [
    ...deviceRoutes(db, BASE_URL),
    ...issueRoutes(db, BASE_URL),
  ])
})

afterAll(() => api.close())

const deviceRow = fc.record({
  name: text,
  platform: fc.constantFrom(...PLATFORMS),
  registered_at: optionalTime,
  last_authenticated_at: optionalTime,
  serial: optionalText,
  hardware_uuid: optionalText,
  note: optionalText,
  will_block_at: optionalTime,
  created_at: time,
  updated_at: time,
})

const DEVICES: ListUnderTest<typeof deviceRow extends fc.Arbitrary<infer Row> ? Row : never> = {
  path: '/devices',
  fields: DEVICE_LIST.fields,
  row: deviceRow,
  insert: (row) =>
    insertDevice(api.db, {
      ...row,
      auth_state: row.will_block_at === null ? 'Good' : 'Will Block',
    }),
  remove: (id) => api.db.deleteFrom('device').where('id', '=', id).execute(),
  searchable: (id, { platform, ...row }) => ({
    ...row,
    id,
    // None of them has been in contact since it enrolled.
    last_seen_at: row.created_at,
    device_type: DEVICE_TYPES[platform],
    auth_state: row.will_block_at === null ? 'Good' : 'Will Block',
  }),
}

const issueRow = fc.record({
  title: text,
  issue_key: optionalText,
  issue_value: optionalText,
  detected_at: time,
  last_rechecked_at: time,
  // Resolved: of open issues there is one per device, check and value.
  resolved_at: time,
  blocks_device_at: optionalTime,
  exempted_at: optionalTime,
  updated_at: time,
  check: fc.nat(2),
  device: fc.nat(2),
})

const ISSUES: ListUnderTest<typeof issueRow extends fc.Arbitrary<infer Row> ? Row : never> = {
  path: '/issues',
  fields: ISSUE_LIST.fields,
  row: issueRow,
  insert: ({ check, device, ...row }) =>
    insertIssue(api.db, {
      ...row,
      check_id: checkIds[check] ?? '',
      device_id: deviceIds[device] ?? '',
    }),
  remove: (id) => api.db.deleteFrom('issue').where('id', '=', id).execute(),
  searchable: (id, { check, device, exempted_at: exemptedAt, ...row }) => ({
    ...row,
    id,
    exempted: exemptedAt !== null,
    open: false,
    check_id: checkIds[check] ?? '',
    device_id: deviceIds[device] ?? '',
  }),
}

function quote(value: string): string {
  return `"${value.replace(/[\\"]/g, '\\$&')}"`
}

function clauseOf(field: SearchField): fc.Arbitrary<string> {
  const id = fc.integer({ min: 1, max: 40 }).map(String)
  const value = (operator: SearchOperator): fc.Arbitrary<string> => {
    switch (field.type) {
      case 'text':
        return text.map(quote)
      case 'id':
        return operator === ':' && field.list === true
          ? fc.array(id, { minLength: 1, maxLength: 5 }).map((ids) => `[${ids.join(',')}]`)
          : id
      case 'timestamp':
        return fc.constantFrom(...TIMES).map(quote)
      case 'boolean':
        return fc.constantFrom('true', 'false')
      case 'enum':
        return fc.constantFrom(...(field.values ?? [])).map(quote)
      case 'integer':
        return fc.integer().map(String)
    }
  }
  return fc
    .constantFrom(...field.operators)
    .chain((operator) => value(operator).map((each) => `${field.name}${operator}${each}`))
}

/** Searches of up to three levels. */
function searchOf(fields: readonly SearchField[]): fc.Arbitrary<string> {
  const clause = fc.constantFrom(...fields).chain(clauseOf)
  const { expression } = fc.letrec<{ expression: string }>((tie) => ({
    expression: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      clause,
      fc
        .tuple(tie('expression'), fc.constantFrom(' AND ', ' OR ', ' or '), tie('expression'))
        .map((parts) => parts.join('')),
      tie('expression').map((inner) => `(${inner})`),
    ),
  }))
  return fc.oneof(fc.constant(''), expression)
}

/** What happens to the rows between two pages. */
const disturbance = fc.oneof(
  fc.constant({ kind: 'none' } as const),
  fc.record({ kind: fc.constant('insert' as const), row: fc.nat(ROWS_MAX) }),
  fc.record({ kind: fc.constant('remove' as const), row: fc.nat(ROWS_MAX) }),
)

class Rows<Row> {
  readonly byId = new Map<string, Row>()
  readonly everById = new Map<string, Row>()
  readonly #list: ListUnderTest<Row>

  constructor(list: ListUnderTest<Row>, entries: readonly (readonly [string, Row])[]) {
    this.#list = list
    for (const [id, row] of entries) this.#add(id, row)
  }

  idsThatMatch(query: string, ids: Iterable<string>): string[] {
    const expression = parseSearch(query, this.#list.fields)
    return [...ids].filter((id) => {
      const row = this.everById.get(id)
      if (row === undefined) throw new Error(`row ${id} is unknown`)
      return expression === undefined || evaluateSearch(expression, this.#list.searchable(id, row))
    })
  }

  async insert(row: Row): Promise<void> {
    this.#add(await this.#list.insert(row), row)
  }

  async remove(index: number): Promise<void> {
    const id = [...this.byId.keys()][index]
    if (id === undefined) return
    await this.#list.remove(id)
    this.byId.delete(id)
  }

  #add(id: string, row: Row): void {
    this.byId.set(id, row)
    this.everById.set(id, row)
  }
}

async function fill<Row>(list: ListUnderTest<Row>, rows: readonly Row[]): Promise<Rows<Row>> {
  await emptyTables(api.db, 'device', 'posture_check')
  checkIds = []
  deviceIds = []
  for (let count = 0; list.path === '/issues' && count < 3; count += 1) {
    checkIds.push(await insertCheck(api.db))
    deviceIds.push(await insertDevice(api.db))
  }
  const entries: [string, Row][] = []
  for (const row of rows) entries.push([await list.insert(row), row])
  return new Rows(list, entries)
}

/** Follows `next` to the end; `between` runs after each page. */
async function readPages(
  list: { readonly path: string },
  query: string,
  perPage: number,
  between: (page: number) => Promise<void> = async () => undefined,
): Promise<string[]> {
  const seen: string[] = []
  const parameters = new URLSearchParams({ query, per_page: String(perPage) })
  let url = `${list.path}?${parameters.toString()}`
  for (let page = 0; ; page += 1) {
    const { status, body } = await api.request<TestPage>(url)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.data.length).toBeLessThanOrEqual(perPage)
    seen.push(...body.data.map(({ id }) => id))
    if (body.pagination.next === '') return seen
    await between(page)
    url = body.pagination.next.slice(BASE_URL.length)
  }
}

function describePages<Row>(list: ListUnderTest<Row>): void {
  const data = fc.array(list.row, { maxLength: ROWS_MAX })
  const search = searchOf(list.fields)
  const perPage = fc.integer({ min: 1, max: 7 })

  it('hold exactly the rows that a search means, once each and in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        data,
        fc.array(search, { minLength: 1, maxLength: 4 }),
        perPage,
        async (rows, searches, size) => {
          const stored = await fill(list, rows)
          for (const query of searches) {
            const expected = stored.idsThatMatch(query, stored.byId.keys())
            expect(await readPages(list, query, size), query).toEqual(expected)
          }
        },
      ),
      { numRuns: RUNS },
    )
  })

  it('neither skip nor repeat a row while others are inserted and deleted', async () => {
    const disturbances = fc.array(disturbance, { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(data, search, perPage, disturbances, async (rows, query, size, events) => {
        const stored = await fill(list, rows)
        const seen = await readPages(list, query, size, async (page) => {
          const event = events[page]
          if (event?.kind === 'remove') await stored.remove(event.row)
          const row = event?.kind === 'insert' ? rows[event.row] : undefined
          if (row !== undefined) await stored.insert(row)
        })
        expect(seen).toEqual([...new Set(seen)].sort((a, b) => Number(a) - Number(b)))
        expect(stored.idsThatMatch(query, seen)).toEqual(seen)
        // New rows have higher ids than all others, so that the pages come to them as well.
        const stable = stored.idsThatMatch(query, stored.byId.keys())
        expect(seen.filter((id) => stored.byId.has(id))).toEqual(stable)
      }),
      { numRuns: RUNS },
    )
  })
}

describe('the pages of devices', () => describePages(DEVICES))
describe('the pages of issues', () => describePages(ISSUES))
