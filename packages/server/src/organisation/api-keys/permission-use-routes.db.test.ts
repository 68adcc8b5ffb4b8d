import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runRetention } from '../../../test/support/run-retention.ts'
import { createServiceApi, type ServiceApi } from '../../../test/support/composed-api.ts'
import type { TestRefusal } from '../../../test/support/api-app.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { fixedRetention } from '../../schema/retention.ts'
import { createKeyUsageRecorder } from './key-usage-recorder.ts'

interface Use {
  readonly permission: string
  readonly is_held: boolean
  readonly refused_count: number
  readonly allowed_count: number
  readonly last_refused_at: string | null
  readonly last_refused_operation: string | null
  readonly days: readonly { day: string; refused_count: number; allowed_count: number }[]
}

interface Tried {
  readonly would_be_refused_count: number
  readonly data: readonly { permission: string; would_be_refused_count: number }[]
}

let api: ServiceApi
let manager: string

beforeAll(async () => {
  api = await createServiceApi()
  manager = await api.createKey(['Manage API Keys'])
})
afterAll(() => api.close())

const newRecorder = (closed = new AbortController().signal, db = api.db) =>
  createKeyUsageRecorder(db, api.clock, closed)
const read = async (id: string) => {
  const { body } = await api.request<{ since: string; data: Use[] }>(`/api_keys/${id}/refusals`, {
    key: manager,
  })
  return body
}
const tryWith = async (id: string, permissions: string[]) =>
  api.request<Tried & TestRefusal>(`/api_keys/${id}/try_permissions`, {
    method: 'POST',
    key: manager,
    payload: { permissions },
  })

/** A new key that holds one permission. */
async function newKey() {
  const key = await api.createKey(['Refresh Check'])
  const { id } = await api.db
    .selectFrom('api_key')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  return { id, key }
}

/** Counts what a key does at the present time of the test. */
async function use(id: string, permission: string, isAllowed: boolean, times = 1) {
  const recorder = newRecorder()
  const operation = 'DELETE /devices/{id}'
  for (let count = 0; count < times; count += 1) {
    recorder.recordPermissionUse({ keyId: id, permission, isAllowed, operation })
  }
  await recorder.flush()
}

describe('what a key was refused for', () => {
  it('is counted by permission and day, beside what it was let through for', async () => {
    const { id } = await newKey()
    const first = api.clock.now()
    await use(id, 'Remove Devices', false, 3)
    await use(id, 'Refresh Check', true)
    api.clock.advance(DAY_MS)
    await use(id, 'Remove Devices', false)
    const now = api.clock.now()
    expect((await read(id)).data).toEqual([
      expect.objectContaining({
        permission: 'Remove Devices',
        is_held: false,
        refused_count: 4,
        allowed_count: 0,
        last_refused_at: now.toISOString(),
        last_refused_operation: 'DELETE /devices/{id}',
        days: [
          { day: first.toISOString().slice(0, 10), refused_count: 3, allowed_count: 0 },
          { day: now.toISOString().slice(0, 10), refused_count: 1, allowed_count: 0 },
        ],
      }),
      expect.objectContaining({ permission: 'Refresh Check', is_held: true, allowed_count: 1 }),
    ])
  })

  it('leaves days of more than 30 days ago out, and retention deletes them', async () => {
    const { id } = await newKey()
    await use(id, 'Remove Devices', false)
    api.clock.advance(30 * DAY_MS)
    expect((await read(id)).data.map(({ refused_count: count }) => count)).toEqual([0])
    const policy = fixedRetention('key permission uses')
    const count = async () =>
      (await api.db.selectFrom('api_key_permission_use').selectAll().execute()).length
    await runRetention(api.db, policy, api.clock.now())
    const kept = await count()
    expect(kept).toBeGreaterThan(0)
    await runRetention(api.db, policy, new Date(api.clock.now().getTime() + 2 * DAY_MS))
    expect(await count()).toBeLessThan(kept)
  })

  it('is counted of requests to the API and to SCIM, and of no other refusal', async () => {
    const { id, key } = await newKey()
    await api.request('/devices/1', { method: 'DELETE', key })
    await api.request('/scim/v2/Users', { key })
    await api.request('/devices/999', { method: 'POST', key })
    await api.request('/devices', { key })
    await api.runJob('key usage')
    expect((await read(id)).data.map((each) => [each.permission, each.refused_count])).toEqual([
      ['Remove Devices', 1],
      ['Refresh Check', 0],
      ['Manage People', 1],
    ])
  })

  it('does not outlive the key, and is lost without a fault for one that is gone', async () => {
    await expect(use('999999999', 'Remove Devices', false)).resolves.toBeUndefined()
    const missing = await api.request<TestRefusal>('/api_keys/999999999/refusals', { key: manager })
    expect(missing.status).toBe(404)
  })
})

describe('what keys did while the database was away', () => {
  /** Takes away what keys are written to while it works. */
  async function without(work: () => Promise<unknown>) {
    await sql`alter table api_key rename to api_key_away`.execute(api.db)
    try {
      await work()
    } finally {
      await sql`alter table api_key_away rename to api_key`.execute(api.db)
    }
  }
  const readLastUsed = async (id: string) => {
    const query = api.db.selectFrom('api_key').select('last_used_at').where('id', '=', id)
    return (await query.executeTakeFirstOrThrow()).last_used_at
  }

  it('is counted when it is back, once, with what they did since', async () => {
    const { id } = await newKey()
    const recorder = newRecorder()
    const refuse = (operation: string) =>
      recorder.recordPermissionUse({
        ...{ keyId: id, permission: 'Remove Devices', isAllowed: false, operation },
      })
    const first = api.clock.now()
    recorder.recordUse(id)
    refuse('DELETE /devices/{id}')
    await without(() => expect(recorder.flush()).rejects.toThrow('api_key'))
    api.clock.advance(1_000)
    refuse('DELETE /devices')
    await without(() => expect(recorder.flush()).rejects.toThrow('api_key'))
    await recorder.flush()
    await recorder.flush()
    expect(await readLastUsed(id)).toEqual(first)
    expect((await read(id)).data).toEqual([
      expect.objectContaining({
        refused_count: 2,
        last_refused_at: api.clock.now().toISOString(),
        last_refused_operation: 'DELETE /devices',
      }),
      expect.anything(),
    ])
  })

  it('leaves what was refused last, where another process has written that before', async () => {
    const { id } = await newKey()
    const [late, other] = [newRecorder(), newRecorder()]
    const refuse = (recorder: typeof late, operation: string) =>
      recorder.recordPermissionUse({
        ...{ keyId: id, permission: 'Remove Devices', isAllowed: false, operation },
      })
    refuse(late, 'DELETE /devices')
    api.clock.advance(1_000)
    refuse(other, 'DELETE /devices/{id}')
    await other.flush()
    await late.flush()
    const told = { refused_count: 2, last_refused_operation: 'DELETE /devices/{id}' }
    expect((await read(id)).data).toContainEqual(expect.objectContaining(told))
  })

  it('is counted by a process that stops, where the database is back in a moment', async () => {
    const { id } = await newKey()
    const recorder = newRecorder()
    recorder.recordUse(id)
    let stopping: Promise<void> | undefined
    await without(async () => {
      await expect(recorder.flush()).rejects.toThrow('api_key')
      stopping = recorder.stop()
    })
    await stopping
    expect(await readLastUsed(id)).toEqual(api.clock.now())
  })

  it('does not hold up for ever a process that stops', async () => {
    const recorder = newRecorder()
    recorder.recordUse('1')
    await without(() => expect(recorder.stop()).rejects.toThrow('api_key'))
  })

  it('is not tried again by a process that nothing takes to its database any more', async () => {
    const { id } = await newKey()
    const closing = new AbortController()
    const tries = vi.fn()
    const counting = api.db.withPlugin({
      transformQuery: ({ node }) => {
        tries()
        return node
      },
      transformResult: async ({ result }) => result,
    })
    const recorder = newRecorder(closing.signal, counting)
    recorder.recordUse(id)
    closing.abort()
    await without(() => expect(recorder.stop()).rejects.toThrow('api_key'))
    expect(tries).toHaveBeenCalledOnce()
    expect(await readLastUsed(id)).toBeNull()
  })

  it('is counted by permission where only their last uses cannot be written', async () => {
    const { id } = await newKey()
    const recorder = newRecorder()
    recorder.recordUse(id)
    recorder.recordPermissionUse({
      ...{ keyId: id, permission: 'Remove Devices', isAllowed: true, operation: 'DELETE /devices' },
    })
    await sql`alter table api_key rename column last_used_at to last_used_at_away`.execute(api.db)
    try {
      await expect(recorder.flush()).rejects.toThrow('last_used_at')
    } finally {
      await sql`alter table api_key rename column last_used_at_away to last_used_at`.execute(api.db)
    }
    const permission = { permission: 'Remove Devices', allowed_count: 1 }
    expect((await read(id)).data).toContainEqual(expect.objectContaining(permission))
  })

  it('stays remembered for the keys that were used last, where it is too much', async () => {
    const { id } = await newKey()
    const recorder = newRecorder()
    const useOthers = (from: number) => {
      for (let other = 0; other < 9_999; other += 1) recorder.recordUse(String(from + other))
    }
    await without(async () => {
      recorder.recordUse(id)
      useOthers(1_000_000)
      await expect(recorder.flush()).rejects.toThrow('api_key')
      useOthers(2_000_000)
      recorder.recordUse(id)
      await expect(recorder.flush()).rejects.toThrow('api_key')
    })
    await recorder.flush()
    expect(await readLastUsed(id)).toEqual(api.clock.now())
  })
})

describe('what a key would be refused for', () => {
  it('is all that it asked for and that is not proposed', async () => {
    const { id } = await newKey()
    await use(id, 'Remove Devices', false, 3)
    await use(id, 'Refresh Check', true, 2)
    const { body } = await tryWith(id, ['Remove Devices', 'Manage Webhooks'])
    expect(body.would_be_refused_count).toBe(2)
    expect(body.data).toEqual([
      expect.objectContaining({
        permission: 'Remove Devices',
        is_held: false,
        is_proposed: true,
        request_count: 3,
        would_be_refused_count: 0,
      }),
      expect.objectContaining({ permission: 'Refresh Check', would_be_refused_count: 2 }),
      expect.objectContaining({ permission: 'Manage Webhooks', request_count: 0, last_at: null }),
    ])
    const { body: none } = await tryWith(id, [])
    expect(none.would_be_refused_count).toBe(5)
  })

  it('changes nothing', async () => {
    const { id, key } = await newKey()
    await tryWith(id, ['Remove Devices'])
    expect((await api.request('/devices/1', { method: 'DELETE', key })).status).toBe(403)
  })

  it('is refused for a permission that does not exist', async () => {
    const { id } = await newKey()
    const { status, body } = await tryWith(id, ['Refresh Check', 'Fly'])
    expect([status, body.details?.[0]?.path]).toEqual([422, 'permissions.1'])
  })
})
