/*
 * The pages of every list of the API, for random searches over data of every kind: exactly the rows that
 * one plain statement finds, each once, in order, also while rows vanish and come back. What a search
 * means is for list-pages.db.test.ts; here it is that no list loses or repeats a row on the way.
 */
import fc from 'fast-check'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_LIST } from '../src/organisation/admins/admin-read.ts'
import { AUDIT_LIST } from '../src/changes/audit/audit-read.ts'
import { insertListData, type ListIds } from '../bench/list-data.ts'
import { findLists, type ListDocument, type PublishedList } from '../bench/list-searches.ts'
import { CHECK_LIST } from '../src/posture/checks/check-read.ts'
import { checkResultList } from '../src/posture/checks/check-result-read.ts'
import { DRAFT_LIST } from '../src/posture/checks/drafts/draft-read.ts'
import { ALL_DELIVERIES } from '../src/signals/diagnosis/deliveries/all-deliveries-read.ts'
import { DELIVERY_LIST } from '../src/signals/dispatch/delivery-read.ts'
import { DEVICE_GROUP_LIST } from '../src/posture/device-groups/device-group-read.ts'
import { DEVICE_LIST } from '../src/posture/devices/device-read.ts'
import { REGISTRATION_REQUEST_LIST } from '../src/posture/devices/registration-requests/registration-request-read.ts'
import { REENROLLMENT_REQUEST_LIST } from '../src/posture/enrollment/reenrollment/reenrollment-request-read.ts'
import { EXEMPTION_REQUEST_LIST } from '../src/posture/issues/exemptions/exemption-request-read.ts'
import { ISSUE_LIST } from '../src/posture/issues/issue-read.ts'
import { CAMPAIGN_LIST } from '../src/posture/live-queries/campaign-read.ts'
import { LIVE_RESULT_LIST } from '../src/posture/live-queries/live-result-read.ts'
import { PERSON_GROUP_LIST } from '../src/people/people/person-group-read.ts'
import { PERSON_LIST } from '../src/people/people/person-read.ts'
import type { Schema } from '../src/schema/schema.ts'
import { parseSearch } from '../src/platform/search/parse-search.ts'
import { searchToSql } from '../src/platform/search/search-to-sql.ts'
import type { RecordList } from '../src/platform/search/record-list.ts'
import { REPORTING_TABLES } from '../src/posture/reporting/reporting-tables.ts'
import { tableRecordList } from '../src/posture/reporting/table-record-read.ts'
import { AUTH_LOG_LIST } from '../src/sign-in/journal/auth-log-read.ts'
import { EVENT_LIST } from '../src/signals/webhooks/webhook-event-read.ts'
import { startContractService, type ContractService } from './contract/contract-service.ts'
import { BASE_URL } from './support/api-app.ts'

/** More than the rows that are looked at one by one, so that the indexes of the fields are used too. */
const ROWS = 1_500
const SEARCHES = 12
const PER_PAGE = 100
const USERS = REPORTING_TABLES.filter(({ name }) => name === 'users')

type AnyList = Pick<RecordList<Schema, object>, 'table' | 'key' | 'fields' | 'columns'>

interface KnownList {
  readonly list: AnyList
  /** What holds for its rows. */
  readonly scope?: (ids: ListIds) => RawBuilder<unknown>
  /** Rows stay as they are. */
  readonly isAppendOnly?: true
}

// Nothing is as old as to be stale.
const RESULTS = checkResultList(new Date(0), new Date(0))
const IS_OPEN = sql`issue.resolved_at is null`

/** By the path of the published document. */
const LISTS: Readonly<Record<string, KnownList>> = {
  '/devices': { list: DEVICE_LIST },
  '/device_groups/{id}/devices': {
    list: DEVICE_LIST,
    scope: (ids) => sql`device.id in (select device_id from device_group_member
      where device_group_id = ${ids['/device_groups']})`,
  },
  '/people/{id}/registered_devices': {
    list: DEVICE_LIST,
    scope: (ids) => sql`device.owner_person_id = ${ids['/people']}`,
  },
  '/issues': { list: ISSUE_LIST },
  '/devices/{id}/open_issues': {
    list: ISSUE_LIST,
    scope: (ids) => sql`issue.device_id = ${ids['/devices']} and ${IS_OPEN}`,
  },
  '/people/{id}/open_issues': {
    list: ISSUE_LIST,
    scope: (ids) => sql`${IS_OPEN} and issue.device_id in (
      select id from device where owner_person_id = ${ids['/people']})`,
  },
  '/devices/{id}/check_results': {
    list: RESULTS,
    scope: (ids) => sql`check_result.device_id = ${ids['/devices']}`,
  },
  '/checks/{id}/results': {
    list: RESULTS,
    scope: (ids) => sql`check_result.check_id = ${ids['/checks']}`,
  },
  '/device_groups': { list: DEVICE_GROUP_LIST },
  '/people': { list: PERSON_LIST, scope: () => sql`person.deprovisioned_at is null` },
  '/deprovisioned_people': {
    list: PERSON_LIST,
    scope: () => sql`person.deprovisioned_at is not null`,
  },
  '/person_groups/{id}/people': {
    list: PERSON_LIST,
    scope: (ids) => sql`person.deprovisioned_at is null and person.id in (
      select person_id from person_group_member where person_group_id = ${ids['/person_groups']})`,
  },
  '/person_groups': { list: PERSON_GROUP_LIST },
  '/people/{id}/person_groups': {
    list: PERSON_GROUP_LIST,
    scope: (ids) => sql`person_group.id in (
      select person_group_id from person_group_member where person_id = ${ids['/people']})`,
  },
  '/checks': { list: CHECK_LIST },
  '/custom_check_drafts': { list: DRAFT_LIST },
  '/exemption_requests': { list: EXEMPTION_REQUEST_LIST },
  '/registration_requests': { list: REGISTRATION_REQUEST_LIST },
  '/reenrollment_requests': { list: REENROLLMENT_REQUEST_LIST },
  '/auth_logs': { list: AUTH_LOG_LIST },
  '/audit_logs': { list: AUDIT_LIST, isAppendOnly: true },
  // The caller's own key is the admin's.
  '/admin_users': { list: ADMIN_LIST, isAppendOnly: true },
  '/live_query_campaigns': { list: CAMPAIGN_LIST },
  '/live_query_campaigns/{id}/query_results': {
    list: LIVE_RESULT_LIST,
    scope: (ids) => sql`live_query_result.campaign_id = ${ids['/live_query_campaigns']}`,
  },
  '/deliveries': { list: ALL_DELIVERIES },
  '/ssf_streams/{id}/deliveries': {
    list: DELIVERY_LIST,
    scope: () => sql`delivery.destination_id = (select min(id) from delivery_destination)`,
  },
  '/webhook_events': { list: EVENT_LIST },
  '/reporting/tables/{name}/table_records': {
    list: USERS.map(tableRecordList)[0] ?? DEVICE_LIST,
    scope: () => sql`reporting_record.table_name = 'users'`,
  },
}

let service: ContractService
let ids: ListIds
let published: readonly PublishedList[]

beforeAll(async () => {
  service = await startContractService({ HELIOGRAPH_CHECK_INTERVAL: '604800' })
  const sizes = { people: ROWS, devices: ROWS, issues: ROWS, authLogs: ROWS, auditEntries: ROWS }
  ids = await insertListData(service.services.db, {
    ...sizes,
    resultsPerDevice: 3,
    transitions: 10,
    groups: 200,
    requests: ROWS,
    campaigns: 200,
    reportingRecords: ROWS,
  })
  ids = { ...ids, '/ssf_streams': await insertDeliveries(service.services.db) }
  await insertWebhookEvents(service.services.db)
  const url = '/openapi_specifications/2026-04-07'
  const document = (await service.send({ method: 'GET', url, key: null })).json<ListDocument>()
  const fields = USERS.flatMap((table) => tableRecordList(table).fields)
  published = findLists(document, ids, {
    '/reporting/tables/{name}/table_records': fields.flatMap(({ name, operators }) =>
      operators.map((operator) => `${name}${operator}`),
    ),
  }).filter((each) => each.fields.length > 0)
})

afterAll(() => service.close())

/** A stream with a long log; answers its id. */
async function insertDeliveries(db: Kysely<Schema>): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    with destination as (
      insert into delivery_destination (kind, state) values ('ssf_poll', 'active') returning id)
    insert into ssf_stream (stream_id, destination_id, face, issuer, audience, name, delivery_method,
      events_requested, spec_version, subject_form, status, created_at, updated_at)
    select gen_random_uuid(), id, 'root', 'https://a.example', 'https://b.example', 'Log', 'poll',
      '{}', '1.0', 'complex', 'enabled', now(), now() from destination returning id::text`.execute(
    db,
  )
  await sql`
    insert into delivery (destination_id, event_id, event_type, subject_key, body, state,
      attempt_count, next_attempt_at, txn, created_at)
    select d.id, 'event-' || n, case when n % 3 = 0 then 'a text' else 'robin' end,
      'device:' || n % 900, '{}', (array['queued', 'delivered', 'dead', 'discarded'])[1 + n % 4],
      n % 12, now(), 'txn-' || n % 50, now() - n * interval '1 hour'
    from generate_series(1, ${ROWS}::int) n, (select min(id) as id from delivery_destination) d
  `.execute(db)
  return rows[0]?.id ?? ''
}

/** The API names them by their event ids, which are those of the rows here. */
async function insertWebhookEvents(db: Kysely<Schema>): Promise<void> {
  await sql`
    insert into webhook_event (id, event_id, event_type, object_type, object_id, body, txn,
      occurred_at, created_at)
    overriding system value
    select n, n::text, (array['issues.new', 'issues.resolved', 'devices.created'])[1 + n % 3],
      case when n % 5 > 0 then 'device' end, case when n % 5 > 0 then (n % 900)::text end, '{}',
      'txn-' || n % 50, now() - n * interval '1 hour', now() - n * interval '1 hour'
    from generate_series(1, ${ROWS}::int) n`.execute(db)
}

it('every list that can be searched is known here', () => {
  expect(published.map(({ name }) => name).sort()).toEqual(Object.keys(LISTS).sort())
})

describe.each(Object.entries(LISTS))('the pages of %s', (name, known) => {
  it('hold exactly the rows that one statement finds, once each and in order', async () => {
    const { path, searches } = getPublished(name)
    const found = fc.sample(searchOf(searches), { numRuns: SEARCHES, seed: 7 })
    for (const query of ['', ...found]) {
      expect(await readPages(path, query, known), query).toEqual(await listKeys(known, query))
    }
  })

  it.skipIf(known.isAppendOnly === true)(
    'neither skip nor repeat a row while others vanish and come back',
    async () => {
      const { path, searches } = getPublished(name)
      for (const query of ['', ...fc.sample(searchOf(searches), { numRuns: 3, seed: 8 })]) {
        const before = await listKeys(known, query)
        const disturbed = before.filter((_key, place) => place % 40 === 7)
        const away: (() => Promise<void>)[] = []
        const seen = await readPages(path, query, known, async (page) => {
          const key = disturbed[page]
          if (page % 2 === 0 && key !== undefined) away.push(await removeRow(known.list, key))
          else await away.pop()?.()
        })
        for (const restore of away) await restore()
        expect(new Set(seen).size, query).toBe(seen.length)
        const isStable = (key: string) => !disturbed.includes(key)
        expect(seen.filter(isStable), query).toEqual(before.filter(isStable))
      }
    },
    60_000,
  )
})

function getPublished(name: string): PublishedList {
  const list = published.find((each) => each.name === name)
  if (list === undefined) throw new Error(`${name} is not published`)
  return list
}

/** Searches of up to three levels, made of the searches of the single fields. */
function searchOf(searches: readonly string[]): fc.Arbitrary<string> {
  const clauses = searches.filter((query) => !/ (?:AND|OR) /.test(query))
  const { expression } = fc.letrec<{ expression: string }>((tie) => ({
    expression: fc.oneof(
      { maxDepth: 2 },
      fc.constantFrom(...clauses),
      fc
        .tuple(tie('expression'), fc.constantFrom(' AND ', ' OR '), tie('expression'))
        .map((parts) => `(${parts.join('')})`),
    ),
  }))
  return expression
}

/** The rows that a search means, found by one statement without pages. */
async function listKeys({ list, scope }: KnownList, query: string): Promise<string[]> {
  const search = parseSearch(query, list.fields)
  const isMatch = search === undefined ? sql`true` : searchToSql(search, list.columns)
  const key = sql.ref(`${list.table}.${list.key}`)
  const { rows } = await sql<{ key: string }>`
    select ${key}::text as key from ${sql.table(list.table)}
    where ${scope?.(ids) ?? sql`true`} and ${isMatch} order by ${key}`.execute(service.services.db)
  return rows.map((row) => row.key)
}

/** The keys in the order in which the pages show them; `between` runs after each page. */
async function readPages(
  path: string,
  query: string,
  { list }: KnownList,
  between: (page: number) => Promise<void> = async () => undefined,
): Promise<string[]> {
  const seen: string[] = []
  let url = `${path}?${new URLSearchParams({ query, per_page: String(PER_PAGE) }).toString()}`
  for (let page = 0; ; page += 1) {
    const answer = await service.send({ method: 'GET', url, key: service.fullKey })
    expect([url, answer.statusCode, answer.body]).toEqual([url, 200, answer.body])
    const { data, pagination } = answer.json<{
      data: Record<string, string>[]
      pagination: { next: string }
    }>()
    seen.push(...(await toKeys(list, data)))
    if (pagination.next === '') return seen
    await between(page)
    url = pagination.next.slice(BASE_URL.length)
  }
}

/** Results of checks do not show their key, but what is as unique. */
async function toKeys(
  list: AnyList,
  records: readonly Record<string, string>[],
): Promise<string[]> {
  if (list.table !== 'check_result') return records.map((record) => String(record['id']))
  const { rows } = await sql<{ key: string }>`
    select result.id::text as key
    from jsonb_array_elements(${JSON.stringify(records)}::jsonb) with ordinality as shown(one, place)
    join check_result result on result.device_id = (one->>'device_id')::bigint
      and result.check_id = (one->>'check_id')::bigint
    order by place`.execute(service.services.db)
  return rows.map((row) => row.key)
}

/** Takes a row away with all that hangs on it; answers what brings the row itself back. */
async function removeRow({ table, key }: AnyList, id: string): Promise<() => Promise<void>> {
  const { db } = service.services
  const { rows } = await sql<{ row: object }>`
    delete from ${sql.table(table)} where ${sql.ref(key)} = ${id}
    returning to_jsonb(${sql.table(table)}) as row`.execute(db)
  const [removed] = rows
  return async () => {
    await sql`
      insert into ${sql.table(table)} overriding system value
      select * from jsonb_populate_record(null::${sql.table(table)}, ${JSON.stringify(removed?.row)}::jsonb)
    `.execute(db)
  }
}
