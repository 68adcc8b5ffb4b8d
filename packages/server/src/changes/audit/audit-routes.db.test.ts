import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi } from '../../../test/support/api-app.ts'
import {
  describeListContract,
  describeRecordContract,
  toTrials,
  trialsOf,
} from '../../../test/support/read-contract.ts'
import { SYSTEM_ACTOR, type Actor, type AuditNote } from './audit-entry.ts'
import { AUDIT_LIST } from './audit-read.ts'
import { auditRoutes } from './audit-routes.ts'

const GRACE: Actor = { type: 'User', id: '1', name: 'Grace Hopper', email: 'grace@example.com' }
const SYNC: Actor = { type: 'ApiKey', id: '9', name: 'nightly sync', email: null }

let api: TestApi
/** Entry ids by what happened. */
let ids: Record<'renamed' | 'approved' | 'synced' | 'noticed', string>

beforeAll(async () => {
  api = await createTestApi(({ db }) => auditRoutes(db))
  ids = {
    renamed: await record('2026-02-01T00:00:00.001Z', GRACE, {
      action: 'device.renamed',
      target: { type: 'device', id: '42' },
      description: 'renamed the device alpha to beta',
      before: { name: 'alpha' },
      after: { name: 'beta' },
    }),
    approved: await record('2026-02-02T00:00:00Z', GRACE, {
      action: 'exemption_request.approved',
      target: { type: 'exemption_request', id: '7' },
      description: 'approved an exemption',
    }),
    synced: await record('2026-02-03T00:00:00Z', SYNC, {
      action: 'device.renamed',
      target: { type: 'device', id: '43' },
      description: 'renamed the device gamma',
    }),
    noticed: await record('2026-02-04T00:00:00Z', SYSTEM_ACTOR, {
      action: 'catalogue.synced',
      target: null,
      description: 'brought the checks up to date',
    }),
  }
})

afterAll(() => api.close())

/** Makes an entry as every change does, and answers its id. */
async function record(at: string, actor: Actor, note: AuditNote): Promise<string> {
  api.clock.set(at)
  await api.runChange({ actor }, async (change) => change.recordAudit(note))
  const { sequence } = await api.db
    .selectFrom('audit_entry')
    .select('sequence')
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  return sequence
}

async function findDescriptions(query: string): Promise<string[]> {
  // The entries about the admin and the key of this test are older.
  const url = `/audit_logs?query=${encodeURIComponent(`(${query}) AND timestamp>2026-01-31`)}`
  const { body } = await api.request<{ data: { description: string }[] }>(url)
  return body.data.map(({ description }) => description)
}

describe('GET /audit_logs', () => {
  describeListContract({
    api: () => api,
    path: () => '/audit_logs',
    fields: ['timestamp (: < >)', 'actor_name (: ~)', 'description (: ~)'],
    narrowSearch: () => 'timestamp>2026-02-01T00:00:00.001Z',
  })

  const RENAMED = 'renamed the device alpha to beta'
  const SYNCED = 'renamed the device gamma'
  const APPROVED = 'approved an exemption'
  const NOTICED = 'brought the checks up to date'
  const SEARCHES: Record<string, readonly string[]> = {
    'timestamp:2026-02-04': [NOTICED],
    'timestamp>2026-02-03T00:00:00Z': [NOTICED],
    'timestamp<2026-02-02': [RENAMED],
    'actor_name:"nightly sync"': [SYNCED],
    'actor_name~HOPPER': [RENAMED, APPROVED],
    [`description:"${APPROVED}"`]: [APPROVED],
    'description~DEVICE': [RENAMED, SYNCED],
  }

  it.each(Object.entries(SEARCHES))('finds by %s', async (query, descriptions) => {
    expect(await findDescriptions(query)).toEqual(descriptions)
  })

  it('has every field and operator tried', () => {
    expect(trialsOf(Object.keys(SEARCHES))).toEqual(toTrials(AUDIT_LIST.fields))
  })
})

describe('GET /audit_logs/{id}', () => {
  describeRecordContract({ api: () => api, path: () => `/audit_logs/${ids.renamed}` })

  it('shows who did what to what, and neither values nor addresses', async () => {
    const { status, body } = await api.request(`/audit_logs/${ids.renamed}`)
    const grace = {
      actor_name: 'Grace Hopper',
      actor_email: 'grace@example.com',
      actor_type: 'User',
    }
    expect(status).toBe(200)
    expect(body).toEqual({
      id: ids.renamed,
      timestamp: '2026-02-01T00:00:00.001Z',
      actor_name: 'Grace Hopper',
      description: 'renamed the device alpha to beta',
      actor: grace,
      actor_info: grace,
      action: 'device.renamed',
      target: { type: 'device', identifier: '42' },
    })
  })

  it('shows what changed to those who manage admins', async () => {
    const path = (id: string) => `/audit_logs/${id}/changes`
    const key = await api.createKey(['Manage Admins'])
    const { status, body } = await api.request(path(ids.renamed), { key })
    expect(status).toBe(200)
    const values = { before: { name: 'alpha' }, after: { name: 'beta' } }
    expect(body).toEqual({ id: ids.renamed, ...values, request_id: null })
    expect((await api.request(path(ids.noticed), { key })).body).toMatchObject({
      before: null,
      after: null,
    })
    expect((await api.request(path('999999'), { key })).status).toBe(404)
    expect((await api.request(path(ids.renamed))).status).toBe(403)
  })

  it('shows null for an actor without an email address and for no target', async () => {
    const { body } = await api.request(`/audit_logs/${ids.noticed}`)
    expect(body).toMatchObject({
      actor_info: { actor_name: 'Heliograph', actor_email: null, actor_type: 'System' },
      target: null,
    })
    const { body: entry } = await api.request(`/audit_logs/${ids.synced}`)
    expect(entry).toMatchObject({ actor_info: { actor_email: null, actor_type: 'ApiKey' } })
  })
})
