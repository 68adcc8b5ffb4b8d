import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Agents, type ReadAnswer } from '../../../test/support/agent-fixtures.ts'
import {
  BASE_URL,
  createTestApi,
  type TestApi,
  type TestRefusal,
} from '../../../test/support/api-app.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { insertCheck, insertDevice, insertIssue } from '../../../test/support/factories.ts'
import {
  describeListContract,
  describeRecordContract,
  toTrials,
  trialsOf,
} from '../../../test/support/read-contract.ts'
import { describeWriteContract, lastAuditEntry } from '../../../test/support/write-contract.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/clock.ts'
import { createListener } from '../../platform/db/listener.ts'
import { newSecret } from '../../platform/ids.ts'
import type { CheckStatus } from '../../schema/status-values.ts'
import { checkResultList } from './check-result-read.ts'
import { checkResultRoutes } from './check-result-routes.ts'
import { requestCheckRefresh } from './request-check-refresh.ts'
import { STALE_AFTER_INTERVALS } from './stale-result.ts'
import { DatabaseNetwork } from '../../platform/db/database-network.ts'
import { emptyTables } from '../../../test/support/empty-tables.ts'

let api: TestApi

beforeAll(async () => {
  api = await createTestApi(({ db, clock, runChange }) =>
    checkResultRoutes({ db, clock, baseUrl: BASE_URL, runChange, checkIntervalMs: HOUR_MS }),
  )
})
afterAll(() => api.close())

interface ShownResult {
  readonly check_name: string
  readonly device_display_name: string
  readonly status: string
}

const NOW = new Date('2026-01-02T03:04:05.678Z')
const STALE_SINCE = new Date(NOW.getTime() - STALE_AFTER_INTERVALS * HOUR_MS)

describe('results', () => {
  let device: string
  let check: string

  beforeAll(async () => {
    const { db } = api
    device = await insertDevice(db, { name: 'mac-1' })
    check = await insertCheck(db, { name: 'Firewall', slug: 'firewall' })
    await insertResult(device, check, 'failing', {
      rows: JSON.stringify([{ KOLIDE_CHECK_STATUS: 'FAIL', state: 'off' }]),
      ran_at: new Date('2026-01-02T03:00:00.001Z'),
      updated_at: new Date('2026-01-20'),
    })
    for (const [name, status, ranAt] of [
      ['Disk encryption', 'passing', STALE_SINCE],
      ['Disk space', 'passing', new Date(STALE_SINCE.getTime() - 1)],
      ['Disk health', 'pending', null],
      ['Screen lock', 'out_of_scope', new Date('2025-12-01')],
    ] as const) {
      await insertResult(device, await insertCheck(db, { name }), status, { ran_at: ranAt })
    }
    const external = await insertCheck(db, { name: 'Training', type: 'external' })
    await insertResult(device, external, 'passing', { ran_at: new Date('2025-01-01') })
    for (const name of ['mac-2', 'mac-3', 'desktop']) {
      await insertResult(await insertDevice(db, { name }), check, 'unknown')
    }
  })
  afterAll(() => emptyTables(api.db, 'device', 'posture_check'))

  const FIELDS = ['device_display_name (: ~)', 'ran_at (: < >)', 'check_name (: ~)', 'status (:)']

  describe('GET /devices/{id}/check_results', () => {
    describeListContract({
      api: () => api,
      path: () => `/devices/${device}/check_results`,
      fields: FIELDS,
      narrowSearch: () => 'check_name~disk',
    })
    describeRecordContract({
      api: () => api,
      path: () => `/devices/${device}`,
      suffix: '/check_results',
    })

    const SEARCHES: Record<string, readonly string[]> = {
      'device_display_name:mac-1 AND check_name:Firewall': ['Firewall'],
      'device_display_name~desk': [],
      'check_name~DISK': ['Disk encryption', 'Disk space', 'Disk health'],
      'ran_at:2026-01-02T03:00:00.001Z': ['Firewall'],
      'ran_at>2026-01-02T00:00:00Z': ['Firewall'],
      'ran_at<2025-12-15': ['Screen lock', 'Training'],
      'status:failing': ['Firewall'],
      'status:passing': ['Disk encryption', 'Training'],
      'status:stale': ['Disk space'],
      'status:pending OR status:out_of_scope': ['Disk health', 'Screen lock'],
      'updated_at:2026-01-20': ['Firewall'],
      'updated_at>2026-01-15': ['Firewall'],
      'updated_at<2026-01-15 AND status:stale': ['Disk space'],
    }

    it.each(Object.entries(SEARCHES))('finds by %s', async (query, names) => {
      const url = `/devices/${device}/check_results?query=${encodeURIComponent(query)}`
      const { body } = await api.request<{ data: ShownResult[] }>(url)
      expect(body.data.map((result) => result.check_name)).toEqual(names)
    })

    it('has every field and operator tried', () => {
      expect(trialsOf(Object.keys(SEARCHES))).toEqual(
        toTrials(checkResultList(new Date(), new Date()).fields),
      )
    })

    it('shows a result with its data and the exemption of its issue', async () => {
      const issue = { check_id: check, device_id: device, exempted_at: NOW }
      await insertIssue(api.db, { ...issue, issue_value: 'a', exemption_expires_at: NOW })
      await insertIssue(api.db, {
        ...issue,
        issue_value: 'b',
        exemption_reason: 'A lab machine',
        exemption_expires_at: new Date('2026-02-01'),
      })
      const url = `/devices/${device}/check_results?query=check_name:Firewall`
      const { body } = await api.request<{ data: unknown[] }>(url)
      expect(body.data).toEqual([
        {
          id: expect.any(String) as string,
          check_id: check,
          check_slug: 'firewall',
          check_name: 'Firewall',
          device_id: device,
          device_display_name: 'mac-1',
          ran_at: '2026-01-02T03:00:00.001Z',
          exemption_reason: 'A lab machine',
          exemption_expires_at: '2026-02-01T00:00:00.000Z',
          check_result_data: [{ KOLIDE_CHECK_STATUS: 'FAIL', state: 'off' }],
          status: 'failing',
        },
      ])
    })
  })

  describe('GET /checks/{id}/results', () => {
    describeListContract({
      api: () => api,
      path: () => `/checks/${check}/results`,
      fields: FIELDS,
      narrowSearch: () => 'device_display_name~mac',
    })
    describeRecordContract({ api: () => api, path: () => `/checks/${check}`, suffix: '/results' })

    it('shows the results of all devices', async () => {
      const { body } = await api.request<{ data: ShownResult[] }>(`/checks/${check}/results`)
      expect(body.data.map(({ device_display_name: name, status }) => [name, status])).toEqual([
        ['mac-1', 'failing'],
        ['mac-2', 'unknown'],
        ['mac-3', 'unknown'],
        ['desktop', 'unknown'],
      ])
    })

    it('shows a hundred rows of a result at most', async () => {
      const rows = Array.from({ length: 150 }, (_, row) => ({ row: String(row) }))
      await api.db
        .updateTable('check_result')
        .set({ rows: JSON.stringify(rows) })
        .where('device_id', '=', device)
        .where('check_id', '=', check)
        .execute()
      const url = `/checks/${check}/results?query=device_display_name:mac-1`
      const { body } = await api.request<{ data: { check_result_data: unknown[] }[] }>(url)
      expect(body.data[0]?.check_result_data).toEqual(rows.slice(0, 100))
    })
  })
})

async function insertResult(
  deviceId: string,
  checkId: string,
  status: CheckStatus,
  values: { ran_at?: Date | null; rows?: string; updated_at?: Date } = {},
): Promise<void> {
  await api.db
    .insertInto('check_result')
    .values({
      device_id: deviceId,
      check_id: checkId,
      status,
      revision: 1,
      ran_at: NOW,
      status_changed_at: NOW,
      updated_at: NOW,
      ...values,
    })
    .execute()
}

describe('POST /devices/{id}/check_refreshes', () => {
  const QUERIES = JSON.stringify({ darwin: 'select 1' })
  let key: string
  let device: string
  let check: string

  beforeAll(async () => {
    key = await api.createKey(['Refresh Check'])
  })
  beforeEach(async () => {
    await emptyTables(api.db, 'device', 'posture_check')
    device = await insertDevice(api.db, {
      name: 'mac-1',
      node_key_hash: Buffer.from(newSecret(24)),
    })
    check = await insertCheck(api.db, { queries: QUERIES })
  })
  const url = () => `/devices/${device}/check_refreshes`
  const refresh = (payload: object) =>
    api.request<TestRefusal>(url(), { method: 'POST', key, payload })

  describeWriteContract({
    api: () => api,
    method: 'POST',
    path: url,
    payload: () => ({ check_id: check }),
    permission: 'Refresh Check',
    missingPaths: () => ['/devices/999/check_refreshes', '/devices/abc/check_refreshes'],
  })

  it.each([
    ['a text', (id: string) => id],
    ['a number', Number],
  ])('notes the request, for an id that is %s', async (_what, toId) => {
    const answer = await refresh({ check_id: toId(check) })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        device_id: device,
        check_id: check,
        check_refresh_initiated_at: NOW.toISOString(),
      },
    })
    expect(await api.db.selectFrom('check_refresh').selectAll().execute()).toEqual([
      { device_id: device, check_id: check, requested_at: NOW },
    ])
    expect(await lastAuditEntry(api)).toMatchObject({
      action: 'check.refresh_requested',
      target_id: device,
      after: { check_id: check },
    })
  })

  it('asked again moves the time of the request', async () => {
    await refresh({ check_id: check })
    api.clock.advance(MINUTE_MS)
    await refresh({ check_id: check })
    const rows = await api.db.selectFrom('check_refresh').select('requested_at').execute()
    expect(rows).toEqual([{ requested_at: api.clock.now() }])
    api.clock.set(NOW)
  })

  it.each([[{}], [{ check_id: '999' }], [{ check_id: 'abc' }], [{ check_id: '9'.repeat(40) }]])(
    'finds no check for %j',
    async (payload) => {
      const { status, body } = await refresh(payload)
      expect([status, body.code]).toEqual([404, 'not_found'])
    },
  )

  it.each([[{ check_id: null }], [{ check_id: [1] }], [{ check_id: '1', now: true }]])(
    'refuses %j',
    async (payload) => {
      const { status, body } = await refresh(payload)
      expect([status, body.code]).toEqual([422, 'invalid_body'])
    },
  )

  it.each([
    ['reported by another system', { type: 'external' as const }],
    ['paused', { paused_at: NOW }],
    ['does not run on this device', { platforms: ['windows'] }],
  ])('is a conflict for a check that is %s', async (words, values) => {
    const other = await insertCheck(api.db, { queries: QUERIES, ...values })
    const { status, body } = await refresh({ check_id: other })
    expect([status, body.code]).toEqual([409, 'conflict'])
    expect(body.message).toContain(words)
    expect(await api.db.selectFrom('check_refresh').selectAll().execute()).toEqual([])
  })

  it('is a conflict for a device that is not enrolled', async () => {
    await api.db.updateTable('device').set({ node_key_hash: null }).execute()
    expect((await refresh({ check_id: check })).status).toBe(409)
  })
})

it('a refresh reaches the agent with its next check-in, alone, and the answer ends it', async () => {
  const database = await createTestDatabase()
  const agents = await Agents.create(database.db)
  const listener = createListener(database.connection, {
    log: pino({ level: 'silent' }),
    network: new DatabaseNetwork(),
  })
  listener.start()
  try {
    const [check, other] = [await agents.posture.insertCheck(), await agents.posture.insertCheck()]
    const { app } = agents.build({}, { listener })
    await listener.whenListening()
    const nodeKey = await agents.enroll({}, app)
    await agents.read(nodeKey, app)
    const all = { [`check:${check}:1`]: 'PASS', [`check:${other}:1`]: 'PASS' }
    await agents.answer(nodeKey, all, app)
    agents.posture.clock.advance(10 * MINUTE_MS)
    expect(await agents.read(nodeKey, app)).toEqual({ queries: {} })

    await agents.posture.change((change) => requestCheckRefresh(change, '1', check))
    let answer: ReadAnswer = { queries: {} }
    await expect
      .poll(async () => Object.keys((answer = await agents.read(nodeKey, app)).queries))
      .toEqual([`check:${check}:1`])
    expect(answer.accelerate).toBe(120)
    agents.posture.clock.advance(1)
    await agents.answer(nodeKey, { [`check:${check}:1`]: 'FAIL' }, app)
    expect(await database.db.selectFrom('check_refresh').selectAll().execute()).toEqual([])
    expect(agents.posture.announced.at(-1)?.current.authState).toBe('Blocked')
  } finally {
    await agents.close()
    await listener.stop()
    await database.close()
  }
})
