/*
 * What the service as it is composed keeps and deletes: of every kind of record an old and a young one, and
 * what must never go however old it is.
 */
import { sql, type RawBuilder } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import type { RetentionPolicy } from '../src/platform/retention/retention-policy.ts'
import { DAY_MS } from '../src/platform/clock.ts'
import { PERIODIC_JOBS } from '../src/schema/jobs.ts'
import type { RetentionFacts } from '../src/schema/retention-facts.ts'
import { RETENTION, type RetentionName } from '../src/schema/retention.ts'
import { sendRequest } from './support/api-app.ts'
import { createTestKey } from './support/api-keys.ts'
import { composeTestApi, type ComposedApi } from './support/composed-api.ts'
import {
  insertAuthLogSession,
  insertCheck,
  insertDevice,
  insertIssue,
  insertPerson,
} from './support/factories.ts'
import { ManualClock } from './support/manual-clock.ts'
import { beginPartition, describePartitions, makePartitions } from './support/partitioned-table.ts'

const clock = new ManualClock()
const daysAgo = (days: number) => new Date(clock.now().getTime() - days * DAY_MS)

let api: ComposedApi
let key: string
beforeAll(async () => {
  api = await composeTestApi({ environment: { HELIOGRAPH_LOG_LEVEL: 'silent' }, clock })
  key = await createTestKey(api.services, [])
})
afterAll(() => api.close())

/** Runs the job as if nothing had run yet. */
async function sweep(): Promise<void> {
  await api.services.db.deleteFrom('retention_state').execute()
  const job = api.parts.jobs.find(({ name }) => name === 'retention')
  if (job?.kind !== 'periodic') throw new Error('no job')
  await job.run()
}

const run = (statement: RawBuilder<unknown>) => statement.execute(api.services.db)

async function valuesOf(table: string, column: string): Promise<unknown[]> {
  const { rows } = await sql<{ value: unknown }>`
    select ${sql.ref(column)} as value from ${sql.table(table)} order by id`.execute(
    api.services.db,
  )
  return rows.map(({ value }) => value)
}

async function get<Body>(url: string): Promise<Body> {
  const { status, body } = await sendRequest<Body>(api.http, key, url, {})
  expect(status).toBe(200)
  return body
}

it('ends a partition of sign-ins under somebody who pages through them, who goes on behind the gap', async () => {
  const { db } = api.services
  const table = 'auth_log_session'
  await beginPartition(db, { table, first: 20_000_000, size: 2 })
  const held = await insertAuthLogSession(db, {
    started_at: daysAgo(410),
    expires_at: daysAgo(-1),
  })
  const gone: string[] = []
  for (let number = 0; number < 4; number += 1) {
    gone.push(await insertAuthLogSession(db, { started_at: daysAgo(400) }))
    await makePartitions(db, table)
  }
  const young = [
    await insertAuthLogSession(db, { started_at: daysAgo(2) }),
    await insertAuthLogSession(db, { started_at: daysAgo(1) }),
  ]
  interface Page {
    readonly data: readonly { readonly id: string }[]
    readonly pagination: { readonly next_cursor: string }
  }
  const first = await get<Page>('/auth_logs?per_page=2')
  const before = Object.keys(await describePartitions(db, table)).length
  await sweep()
  expect(Object.keys(await describePartitions(db, table)).length).toBeLessThan(before)
  const second = await get<Page>(
    `/auth_logs?per_page=2&cursor=${encodeURIComponent(first.pagination.next_cursor)}`,
  )
  const seen = [...first.data, ...second.data].map(({ id }) => String(id))
  // The first page was read while the others were there.
  expect(seen).toEqual([held, gone[0], ...young])
  await db.deleteFrom(table).execute()
})

describe('the list of policies', () => {
  it('says of each partitioned table how its partitions end', async () => {
    // Attempts end with their deliveries.
    const { rows } = await sql<{ name: string }>`
      select table_name as name from partitioned_tables()
      where table_name <> 'delivery_attempt' order by 1`.execute(api.services.db)
    const facts: readonly RetentionFacts[] = Object.values(RETENTION)
    const partitioned = facts.filter(({ isPartitioned = false }) => isPartitioned)
    expect(partitioned.map(({ table }) => table).toSorted()).toEqual(rows.map(({ name }) => name))
  })

  it('is the work of the parts, each once', () => {
    const policies = api.parts.list.flatMap(({ retention = [] }) => retention)
    expect(policies.map(({ name }) => name).sort()).toEqual(Object.keys(RETENTION).sort())
  })

  it('has defaults, for ever or for the days that are written down', () => {
    const policies = api.parts.list.flatMap(({ retention = [] }) => retention)
    const byName = new Map<string, RetentionPolicy>(policies.map((policy) => [policy.name, policy]))
    for (const [name, { keeps }] of Object.entries(RETENTION)) {
      const days = 'ms' in keeps ? keeps.ms / DAY_MS : keeps.days
      const expected = days === 0 && !('ms' in keeps) ? null : days * DAY_MS
      expect([name, byName.get(name)?.keepsMs]).toEqual([name, expected])
    }
  })

  it('is one job of the installation: what deletes runs also in a process that restarts within the hour', () => {
    const own = Object.entries(PERIODIC_JOBS).filter(([, { scope }]) => scope === 'process')
    // Each of these is about what a process holds in memory, or about its own files.
    expect(own.map(([name]) => name)).toEqual([
      'audit checkpoint files',
      'certificate',
      'key usage',
      'leased ports',
      'master key',
      'sign-in keys',
      'signing key proofs',
      'signing keys',
      'waiting polls',
    ])
    expect(PERIODIC_JOBS.retention.scope).toBe('installation')
  })

  it.each(Object.keys(RETENTION) as RetentionName[])(
    'reads no table without an index: %s',
    async (name) => {
      const { table, key: id, ageBy, walk } = RETENTION[name]
      const columns = walk === 'age' ? [ageBy] : typeof walk === 'string' ? [id] : [walk[0]]
      const { rows } = await sql`
        select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
        where i.indrelid = ${table}::regclass and a.attname = ${columns[0]}`.execute(
        api.services.db,
      )
      const isSmall = ['ssf_client_secret', 'reenrollment_request'].includes(table)
      expect(rows.length > 0 || isSmall).toBe(true)
    },
  )
})

describe('the sweep', () => {
  it('deletes sign-ins by when they began, of gone people too, and none that is under way', async () => {
    const { db } = api.services
    const person_id = await insertPerson(db)
    const device_id = await insertDevice(db)
    const ended = { result: 'Success' as const, finished_at: clock.now() }
    await insertAuthLogSession(db, { ...ended, started_at: daysAgo(366), person_name: 'old' })
    await insertAuthLogSession(db, { ...ended, started_at: daysAgo(364), person_name: 'young' })
    await insertAuthLogSession(db, {
      started_at: daysAgo(400),
      expires_at: clock.now(),
      person_name: 'under way',
    })
    await insertAuthLogSession(db, {
      ...ended,
      ...{ person_id, device_id, started_at: daysAgo(400), person_name: 'gone' },
    })
    await db.deleteFrom('person').where('id', '=', person_id).execute()
    await db.deleteFrom('device').where('id', '=', device_id).execute()
    await sweep()
    expect(await valuesOf('auth_log_session', 'person_name')).toEqual(['young', 'under way'])
  })

  it('lets the pages of a list go on over what it deletes', async () => {
    const { db } = api.services
    await db.deleteFrom('auth_log_session').execute()
    for (const days of [500, 499, 498, 3, 2, 1]) {
      await insertAuthLogSession(db, {
        result: 'Fail',
        started_at: daysAgo(days),
        person_name: `${days} days`,
      })
    }
    interface Page {
      readonly data: readonly { person_name: string }[]
      readonly pagination: { readonly next: string }
    }
    const first = await get<Page>('/auth_logs?per_page=2')
    expect(first.data.map((each) => each.person_name)).toEqual(['500 days', '499 days'])
    await sweep()
    const { pathname, search } = new URL(first.pagination.next)
    const second = await get<Page>(`${pathname}${search}`)
    expect(second.data.map((each) => each.person_name)).toEqual(['3 days', '2 days'])
  })

  it('deletes resolved issues, and neither open ones nor those that somebody asks to exempt', async () => {
    const { db } = api.services
    const device_id = await insertDevice(db)
    const check_id = await insertCheck(db)
    const issue = (title: string, resolved_at: Date | null) =>
      insertIssue(db, { check_id, device_id, title, resolved_at, detected_at: daysAgo(900) })
    await issue('old', daysAgo(366))
    await issue('young', daysAgo(364))
    await issue('open', null)
    const asked = await issue('asked about', daysAgo(366))
    const decided = await issue('decided', daysAgo(366))
    for (const [issueId, status] of [
      [asked, 'open'],
      [decided, 'withdrawn'],
    ]) {
      await run(sql`
        with request as (
          insert into exemption_request (device_id, requester_message, status, requested_at, updated_at)
          values (${device_id}, '', ${status}, now(), now()) returning id)
        insert into exemption_request_issue select id, ${issueId} from request`)
    }
    await sweep()
    expect(await valuesOf('issue', 'title')).toEqual(['young', 'open', 'asked about'])
    expect(await valuesOf('exemption_request', 'status')).toEqual(['open', 'withdrawn'])
  })

  it('deletes transitions, and leaves of each device the last one and the last of its compliance', async () => {
    const { db } = api.services
    await db.deleteFrom('device').execute()
    const [device, other] = [await insertDevice(db), await insertDevice(db)]
    const check_id = await insertCheck(db)
    const turn = (deviceId: string, days: number, from: string, to: string, reason: string) =>
      run(sql`insert into device_status_transition (device_id, occurred_at, from_state, to_state,
          from_compliance, to_compliance, initiating_entity, actor_name, reason, txn)
        values (${deviceId}, ${daysAgo(days)}, 'Good', 'Good', ${from}, ${to}, 'policy', '', ${reason}, '')`)
    await turn(device, 900, 'not-compliant', 'compliant', 'first')
    await turn(device, 800, 'compliant', 'not-compliant', 'last of compliance')
    await turn(device, 700, 'not-compliant', 'not-compliant', 'between')
    await turn(device, 600, 'not-compliant', 'not-compliant', 'last')
    await turn(other, 500, 'not-compliant', 'compliant', 'old')
    await turn(other, 2, 'compliant', 'compliant', 'young')
    for (const days of [400, 300]) {
      await run(sql`insert into check_transition (device_id, check_id, occurred_at, from_status,
          to_status, revision, initiating_entity, actor_name, reason, txn)
        values (${device}, ${check_id}, ${daysAgo(days)}, 'unknown', 'passing', 1, 'policy', '', ${`${days}`}, '')`)
    }
    await sweep()
    expect(await valuesOf('device_status_transition', 'reason')).toEqual([
      'last of compliance',
      'last',
      'old',
      'young',
    ])
    expect(await valuesOf('check_transition', 'reason')).toEqual(['300'])
  })

  it('deletes the results of live queries and keeps their counts', async () => {
    const { db } = api.services
    const devices = [await insertDevice(db), await insertDevice(db)]
    await run(sql`insert into live_query_campaign (id, name, sql, tables_used, published, created_at, updated_at)
      overriding system value values (1, 'Uptime', 'select 1', '{}', true, now(), now())`)
    for (const [place, deviceId] of devices.entries()) {
      await run(sql`insert into live_query_target values (1, ${deviceId}, 1, 'successful')`)
      await run(sql`insert into live_query_result (campaign_id, device_id, revision, rows, row_count, answered_at)
        values (1, ${deviceId}, 1, '[]', ${place}, ${daysAgo(place === 0 ? 91 : 89)})`)
      await run(sql`insert into live_query_counter (campaign_id, stripe, successful)
        values (1, ${deviceId}::bigint % 16, 1)`)
    }
    const campaign = () => get('/live_query_campaigns/1')
    const before = await campaign()
    await sweep()
    expect(await valuesOf('live_query_result', 'row_count')).toEqual([1])
    expect(await campaign()).toEqual(before)
  })

  it('deletes finished deliveries with their attempts, and nothing that waits or is on its way', async () => {
    await run(sql`insert into delivery_destination (id, kind, state) overriding system value
      values (901, 'webhook', 'active')`)
    const add = (eventId: string, state: string, days: number | null, claimed = false) =>
      run(sql`insert into delivery (destination_id, event_id, event_type, body, state, next_attempt_at,
          txn, created_at, finished_at, claimed_by, claim_expires_at)
        values (901, ${eventId}, 'x', '{}', ${state}, ${daysAgo(900)}, '', ${daysAgo(900)},
          ${days === null ? null : daysAgo(days)}, ${claimed ? crypto.randomUUID() : null},
          ${claimed ? sql`now() + interval '1 minute'` : null})`)
    await add('old', 'delivered', 181)
    await add('dead', 'dead', 181)
    await add('young', 'delivered', 179)
    await add('waiting', 'queued', null)
    await add('on its way', 'queued', null, true)
    await run(sql`insert into delivery_attempt (delivery_id, number, started_at, timings, outcome)
      select id, 1, now(), '{}', 'accepted' from delivery where event_id in ('old', 'young')`)
    for (const [eventId, days] of [
      ['on its way', 900],
      ['gone', 181],
      ['kept', 179],
    ] as const) {
      await run(sql`insert into webhook_event (event_id, event_type, occurred_at, body, txn, created_at)
        values (${eventId}, 'x', now(), '{}', '', ${daysAgo(days)})`)
    }
    await sweep()
    expect(await valuesOf('delivery', 'event_id')).toEqual(['young', 'waiting', 'on its way'])
    expect(await valuesOf('delivery', 'state')).toEqual(['delivered', 'queued', 'queued'])
    expect(await valuesOf('delivery_attempt', 'outcome')).toEqual(['accepted'])
    expect(await valuesOf('webhook_event', 'event_id')).toEqual(['on its way', 'kept'])
    expect(await valuesOf('webhook_event', 'body')).toEqual([null, null])
  })

  it('keeps the audit log for ever unless told otherwise', async () => {
    const { runChange } = api.services
    const present = clock.now()
    clock.set('2001-01-01T00:00:00Z')
    await runChange({ actor: SYSTEM_ACTOR }, async (change) =>
      change.recordAudit({ action: 'test', target: null, description: 'very old' }),
    )
    clock.set(present)
    await sweep()
    const { data } = await get<{ data: { description: string }[] }>('/audit_logs?per_page=100')
    expect(data.map(({ description }) => description)).toContain('very old')
  })

  it('says what it keeps and what it has done', async () => {
    const { data } = await get<{ data: readonly { name: string }[] }>('/retention_policies')
    expect(data.map(({ name }) => name)).toEqual(Object.keys(RETENTION))
    expect(data.find(({ name }) => name === 'audit entries')).toMatchObject({
      setting: 'HELIOGRAPH_AUDIT_RETENTION_DAYS',
      keeps_seconds: null,
      last_started_at: null,
      rows: expect.any(Number) as number,
    })
    expect(data.find(({ name }) => name === 'deliveries')).toMatchObject({
      table: 'delivery',
      keeps_seconds: 180 * 86_400,
      last_ended: expect.any(Number) as number,
      last_finished_at: expect.any(String) as string,
      last_error: null,
    })
  })
})
