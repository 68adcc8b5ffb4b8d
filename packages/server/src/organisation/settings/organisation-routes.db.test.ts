import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestApi, type TestApi, type TestRefusal } from '../../../test/support/api-app.ts'
import { describeWriteContract, lastAuditEntry } from '../../../test/support/write-contract.ts'
import { organisationRoutes } from './organisation-routes.ts'

interface OrganisationJson {
  readonly name: string
  readonly compliance_threshold: string
  readonly api_writes: boolean
  readonly ssf: boolean
}

const reevaluateAllDevices = vi.fn(() => Promise.resolve())
let api: TestApi
let manager: string

beforeAll(async () => {
  api = await createTestApi((parts) => organisationRoutes({ ...parts, reevaluateAllDevices }))
  manager = await api.createKey(['Manage Organisation'])
})
beforeEach(() => reevaluateAllDevices.mockClear())
afterAll(() => api.close())

const change = async (payload: object) =>
  api.request<OrganisationJson & TestRefusal>('/organisation', {
    method: 'PATCH',
    key: manager,
    payload,
  })

describeWriteContract({
  api: () => api,
  method: 'PATCH',
  path: () => '/organisation',
  payload: () => ({ name: 'Example' }),
  permission: 'Manage Organisation',
})

describe('the settings of the organisation', () => {
  it('are shown to every key', async () => {
    const { status, body } = await api.request<OrganisationJson>('/organisation')
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: 'Example', api_writes: true, ssf: true })
  })

  it('change as far as they are given, with an entry of before and after', async () => {
    const before = (await api.request<OrganisationJson>('/organisation')).body
    const { status, body } = await change({ ssf: false })
    expect(status).toBe(200)
    expect(body).toEqual({ ...before, ssf: false, updated_at: api.clock.now().toISOString() })
    expect(await lastAuditEntry(api, 'organisation.updated')).toMatchObject({
      before: { ssf: true },
      after: { ssf: false },
    })
    expect(reevaluateAllDevices).not.toHaveBeenCalled()
  })

  it('that somebody else changes at the same time stay as that change leaves them', async () => {
    const renamed = await api.db.transaction().execute(async (tx) => {
      await tx.updateTable('organisation').set({ api_writes_enabled: false }).execute()
      // It reads before the other change commits, and writes after it.
      const answer = change({ name: 'Renamed' })
      await vi.waitFor(async () => {
        const { rows } = await sql`select from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database()`.execute(api.db)
        expect(rows).toHaveLength(1)
      })
      return { answer }
    })
    const { body } = await renamed.answer
    expect(body).toMatchObject({ name: 'Renamed', api_writes: false })
    await api.db.updateTable('organisation').set({ api_writes_enabled: true }).execute()
  })

  it('have every device judged anew by another threshold, in the same change', async () => {
    await change({ compliance_threshold: 'notified' })
    expect(reevaluateAllDevices).toHaveBeenCalledOnce()
    await change({ compliance_threshold: 'notified' })
    expect(reevaluateAllDevices).toHaveBeenCalledOnce()
  })

  it.each([
    ['name', { name: ' ' }],
    ['compliance_threshold', { compliance_threshold: 'good' }],
    ['api_writes', { api_writes: 'off' }],
    ['nonsense', { nonsense: true }],
  ])('refuse a value for %s that does not exist', async (path, payload) => {
    const { status, body } = await change(payload)
    expect([status, body.details?.[0]?.path]).toEqual([422, path])
  })
})
