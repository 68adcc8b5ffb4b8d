import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi, type TestRefusal } from '../../../test/support/api-app.ts'
import { createConsoleSession } from '../../../test/support/console-session.ts'
import { lastAuditEntry } from '../../../test/support/write-contract.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { ChangeRecord } from '../../changes/change.ts'
import { RESTRICTION_NAMES } from '../../schema/access-levels.ts'
import { PERMISSIONS, type Permission } from '../../schema/permissions.ts'
import { organisationRoutes } from '../settings/organisation-routes.ts'
import { createApiKey, rotateApiKey } from '../api-keys/create-api-key.ts'
import { listAllKeys } from '../api-keys/api-key-store.ts'
import { adminRoutes } from './admin-routes.ts'
import { changeAdmin, removeAdmin } from './change-admin.ts'
import { createAdmin, type AdminAccess } from './create-admin.ts'

const ORIGIN = { actor: SYSTEM_ACTOR }

interface Answer {
  readonly access: string
  readonly revoked_api_key_ids: string[]
  readonly handed_over_api_key_ids: string[]
}

const reevaluateAllDevices = () => Promise.reject(new Error('no threshold changes here'))

let api: TestApi
/** With the permission to manage admins; of an admin who stays. */
let key: string
/** Of an admin with Full Access who is signed in. */
let chief: Readonly<Record<string, string>>
let records: ChangeRecord[]
let count = 0

beforeAll(async () => {
  api = await createTestApi(({ addPublisher, db, runChange, deviceTrust }) => {
    addPublisher((record) => Promise.resolve(void records.push(record)))
    return [
      ...adminRoutes({ db, runChange }),
      ...organisationRoutes({ db, runChange, reevaluateAllDevices, deviceTrust }),
    ]
  })
  records = []
  key = await api.createKey(['Manage Admins'])
  chief = (await createConsoleSession(api.db)).headers
})
beforeEach(() => {
  records = []
})
afterAll(() => api.close())

async function newAdmin(access: AdminAccess = 'full') {
  count += 1
  const email = `admin-${count}@example.com`
  const names = { firstName: 'Ada', lastName: 'Byron' }
  return api.runChange(ORIGIN, (change) => createAdmin(change, { email, access, ...names }))
}

const newKey = (responsibleEmail: string) =>
  api.runChange(ORIGIN, (change) =>
    createApiKey(change, api.sealer, {
      name: 'sync',
      responsibleEmail,
      permissions: [],
      expiresAt: null,
    }),
  )

const call = <Body>(url: string, method: 'PATCH' | 'DELETE', payload?: object) =>
  api.request<Body>(url, {
    key: null,
    headers: chief,
    method,
    ...(payload === undefined ? {} : { payload }),
  })

const statusWith = async (secret: string) =>
  (await api.request<TestRefusal>('/whoami', { key: secret })).status

const events = () => records.flatMap((record) => record.events)
const actions = () =>
  records.flatMap((record) => record.auditEntries.map(({ action, target_id: id }) => [action, id]))

describe('a key', () => {
  it.each(['limited', 'billing_only'])(
    'is refused at once when its admin is given %s access',
    async (access) => {
      const admin = await newAdmin()
      const issued = await newKey(admin.email)
      expect(await statusWith(issued.key)).toBe(200)
      const { status, body } = await call<Answer>(`/admin_users/${admin.id}`, 'PATCH', { access })
      expect([status, body.access]).toEqual([200, access])
      expect(body.revoked_api_key_ids).toEqual([issued.id])
      expect(await statusWith(issued.key)).toBe(401)
      await call(`/admin_users/${admin.id}`, 'PATCH', { access: 'full' })
      expect(await statusWith(issued.key)).toBe(401)
    },
  )

  it('is refused at once when its admin is removed', async () => {
    const admin = await newAdmin()
    const issued = await newKey(admin.email)
    const { status, body } = await call<Answer>(`/admin_users/${admin.id}`, 'DELETE')
    expect([status, body.revoked_api_key_ids]).toEqual([200, [issued.id]])
    expect(await statusWith(issued.key)).toBe(401)
    expect((await api.request(`/admin_users/${admin.id}`)).status).toBe(404)
    const kept = (await listAllKeys(api.db)).find(({ id }) => id === issued.id)
    expect(kept).toMatchObject({ responsibleEmail: null })
    expect(kept?.revokedAt).not.toBeNull()
  })

  it.each(['PATCH', 'DELETE'] as const)(
    'goes on working for the admin that it is handed over to (%s)',
    async (method) => {
      const [from, to] = [await newAdmin(), await newAdmin()]
      const issued = await newKey(from.email)
      const { body } =
        method === 'PATCH'
          ? await call<Answer>(`/admin_users/${from.id}`, method, {
              access: 'limited',
              keys_to: to.id,
            })
          : await call<Answer>(`/admin_users/${from.id}?keys_to=${to.id}`, method)
      expect(body.handed_over_api_key_ids).toEqual([issued.id])
      expect(await statusWith(issued.key)).toBe(200)
      expect(actions()).toContainEqual(['api_key.handed_over', issued.id])
      await call(`/admin_users/${to.id}`, 'DELETE')
      expect(await statusWith(issued.key)).toBe(401)
    },
  )

  it('is refused when its admin has lost Full Access in any other way', async () => {
    const admin = await newAdmin()
    const issued = await newKey(admin.email)
    const update = api.db.updateTable('admin_user').set({ access: 'limited' })
    await update.where('id', '=', admin.id).execute()
    expect(await statusWith(issued.key)).toBe(401)
    await expect(
      api.runChange(ORIGIN, (change) => rotateApiKey(change, api.sealer, issued.id, 60)),
    ).rejects.toMatchObject({ code: 'conflict' })
  })

  it('is not left over by an admin who is demoted while it is created', async () => {
    const admin = await newAdmin()
    const results = await Promise.allSettled([
      newKey(admin.email),
      api.runChange(ORIGIN, (change) => changeAdmin(change, admin.id, { access: 'limited' })),
      newKey(admin.email),
      newKey(admin.email),
    ])
    expect(results[1].status).toBe('fulfilled')
    for (const result of [results[0], results[2], results[3]]) {
      if (result.status === 'fulfilled') expect(await statusWith(result.value.key)).toBe(401)
    }
    const keys = (await listAllKeys(api.db)).filter((one) => one.responsibleAdminId === admin.id)
    expect(keys.filter(({ revokedAt }) => revokedAt === null)).toEqual([])
  })
})

describe('an admin', () => {
  it('is renamed, and its keys stay', async () => {
    const admin = await newAdmin()
    const issued = await newKey(admin.email)
    records = []
    const { body } = await call(`/admin_users/${admin.id}`, 'PATCH', { first_name: ' Augusta ' })
    expect(body).toMatchObject({ first_name: 'Augusta', access: 'full', revoked_api_key_ids: [] })
    expect(await statusWith(issued.key)).toBe(200)
    expect(events()).toEqual([])
  })

  it('whose access changes, and who is removed, is an event and an entry of the audit log', async () => {
    const admin = await newAdmin()
    const issued = await newKey(admin.email)
    records = []
    await call(`/admin_users/${admin.id}`, 'PATCH', { access: 'limited' })
    await call(`/admin_users/${admin.id}`, 'DELETE')
    const facts = { adminId: admin.id, email: admin.email, access: 'limited' }
    expect(events()).toMatchObject([
      { type: 'admin_users.access_changed', previousAccess: 'full', ...facts },
      { type: 'admin_users.destroyed', ...facts },
    ])
    expect(actions()).toEqual([
      ['admin_user.updated', admin.id],
      ['api_key.revoked', issued.id],
      ['admin_user.removed', admin.id],
    ])
  })

  it.each(['unknown', 'limited', 'the admin itself'])(
    'keeps everything when its keys are to go to %s',
    async (kind) => {
      const admin = await newAdmin()
      const issued = await newKey(admin.email)
      const other = await newAdmin('limited')
      const keysTo = { unknown: '999999', limited: other.id }[kind] ?? admin.id
      const body = { access: 'limited', keys_to: keysTo }
      const changed = await call<TestRefusal>(`/admin_users/${admin.id}`, 'PATCH', body)
      expect([changed.status, changed.body.code]).toEqual([422, 'invalid_body'])
      const removed = await call<TestRefusal>(
        `/admin_users/${admin.id}?keys_to=${keysTo}`,
        'DELETE',
      )
      expect([removed.status, removed.body.code]).toEqual([422, 'invalid_body'])
      expect(await statusWith(issued.key)).toBe(200)
    },
  )

  it.each([
    [{ access: 'all' }, 422],
    [{ first_name: ' ' }, 422],
    [{ email: 'x@example.com' }, 422],
  ])('is not changed by %j', async (payload, expected) => {
    const admin = await newAdmin()
    expect((await call(`/admin_users/${admin.id}`, 'PATCH', payload)).status).toBe(expected)
  })

  it.each(['PATCH', 'DELETE'] as const)(
    'is changed with the permission only (%s)',
    async (method) => {
      const admin = await newAdmin()
      const payload = method === 'PATCH' ? { payload: { access: 'limited' } } : {}
      const send = (secret: string | null) =>
        api.request(`/admin_users/${admin.id}`, { method, key: secret, ...payload })
      expect((await send(api.key)).status).toBe(403)
      expect((await send(null)).status).toBe(401)
      expect((await call('/admin_users/999999', method, payload.payload)).status).toBe(404)
      expect((await call('/admin_users/x', method, payload.payload)).status).toBe(404)
    },
  )

  it('with Full Access remains, also when two of the last three remove each other', async () => {
    const own = await createTestApi(({ db, runChange }) => adminRoutes({ db, runChange }))
    const names = { firstName: 'Ada', lastName: 'Byron', access: 'full' } as const
    const create = (email: string) =>
      own.runChange(ORIGIN, (change) => createAdmin(change, { email, ...names }))
    try {
      const [admin] = await own.db.selectFrom('admin_user').select('id').execute()
      const first = admin?.id ?? ''
      const last = await own.runChange(ORIGIN, (change) =>
        changeAdmin(change, first, { access: 'limited' }).catch((error: unknown) => error),
      )
      expect(last).toMatchObject({ code: 'conflict' })
      const others = [await create('a@example.com'), await create('b@example.com')]
      const ids = [first, ...others.map(({ id }) => id)]
      const results = await Promise.allSettled(
        ids.map((id, index) =>
          own.runChange(ORIGIN, (change) =>
            index === 1 ? changeAdmin(change, id, { access: 'limited' }) : removeAdmin(change, id),
          ),
        ),
      )
      const refused = results.filter(({ status }) => status === 'rejected')
      expect(refused).toEqual([
        { status: 'rejected', reason: expect.objectContaining({ code: 'conflict' }) as Error },
      ])
      const full = own.db.selectFrom('admin_user').select('id').where('access', '=', 'full')
      expect(await full.execute()).toHaveLength(1)
    } finally {
      await own.close()
    }
  })
})

describe('the restrictions of an admin', () => {
  it('are replaced as a whole, shown, and in the audit log', async () => {
    const admin = await newAdmin('limited')
    const holder = await api.createKey([...PERMISSIONS])
    const change = async (payload: object) =>
      api.request<TestRefusal & { restrictions: string[] }>(`/admin_users/${admin.id}`, {
        method: 'PATCH',
        key: holder,
        payload,
      })
    expect((await change({ restrictions: ['devices', 'webhooks'] })).body.restrictions).toEqual([
      'devices',
      'webhooks',
    ])
    expect((await change({ first_name: 'Grace' })).body.restrictions).toHaveLength(2)
    expect((await change({ restrictions: [] })).body.restrictions).toEqual([])
    expect((await change({ restrictions: ['money'] })).status).toBe(422)
    expect(await lastAuditEntry(api, 'admin_user.updated')).toMatchObject({
      before: { restrictions: ['devices', 'webhooks'] },
      after: { restrictions: [] },
    })
  })
})

describe('an admin who is deactivated', () => {
  const set = async (id: string, deactivated: boolean) =>
    call<TestRefusal & { deactivated_at: string | null; revoked_api_key_ids: string[] }>(
      `/admin_users/${id}`,
      'PATCH',
      { deactivated },
    )

  it('answers for no key, and gets none', async () => {
    const admin = await newAdmin()
    const issued = await newKey(admin.email)
    const { body } = await set(admin.id, true)
    expect([typeof body.deactivated_at, body.revoked_api_key_ids]).toEqual(['string', [issued.id]])
    expect(await statusWith(issued.key)).toBe(401)
    await expect(newKey(admin.email)).rejects.toMatchObject({ code: 'invalid_body' })
  })

  it('is taken back by whoever holds what it gets', async () => {
    const admin = await newAdmin()
    const setByKey = async (id: string, deactivated: boolean) => {
      const sent = { method: 'PATCH', key, payload: { deactivated } } as const
      return api.request<TestRefusal>(`/admin_users/${id}`, sent)
    }
    expect((await set(admin.id, true)).status).toBe(200)
    expect((await setByKey(admin.id, false)).body.code).toBe('permission_missing')
    expect((await set(admin.id, false)).body.deactivated_at).toBeNull()
    const billing = await newAdmin('billing_only')
    expect((await setByKey(billing.id, true)).status).toBe(200)
    expect((await setByKey(billing.id, false)).body).toMatchObject({ deactivated_at: null })
  })

  it('does not count as somebody with Full Access who remains', async () => {
    const own = await createTestApi(({ db, runChange }) => adminRoutes({ db, runChange }))
    try {
      const [first] = await own.db.selectFrom('admin_user').select('id').execute()
      const names = { firstName: 'Ada', lastName: 'Byron', access: 'full' } as const
      const second = await own.runChange(ORIGIN, (change) =>
        createAdmin(change, { email: 'b@example.com', ...names }),
      )
      const edit = (id: string, isDeactivated: boolean) =>
        own.runChange(ORIGIN, (change) => changeAdmin(change, id, { isDeactivated }))
      await edit(second.id, true)
      const id = first?.id ?? ''
      await expect(edit(id, true)).rejects.toMatchObject({ code: 'conflict' })
      const removed = own.runChange(ORIGIN, (change) => removeAdmin(change, id))
      await expect(removed).rejects.toMatchObject({ code: 'conflict' })
      await own.runChange(ORIGIN, (change) => removeAdmin(change, second.id))
    } finally {
      await own.close()
    }
  })
})

describe('a caller of the API', () => {
  const keyWith = async (...more: Permission[]) => api.createKey(['Manage Admins', ...more])
  const edit = async (secret: string, id: string, payload: object) => {
    const answer = await api.request<TestRefusal>(`/admin_users/${id}`, {
      method: 'PATCH',
      key: secret,
      payload,
    })
    return [answer.status, answer.body.code]
  }
  const REFUSED = [403, 'permission_missing']
  const DONE = [200, undefined]

  it('raises nobody to Full Access by a key, whatever the key holds', async () => {
    const mighty = await api.createKey([...PERMISSIONS])
    for (const access of ['limited', 'billing_only'] as const) {
      const admin = await newAdmin(access)
      for (const secret of [key, mighty]) {
        expect(await edit(secret, admin.id, { access: 'full' })).toEqual(REFUSED)
      }
    }
  })

  it('gives by a key no more than the key holds', async () => {
    const admin = await newAdmin('billing_only')
    const allButWebhooks = RESTRICTION_NAMES.filter((name) => name !== 'webhooks')
    const access = 'limited'
    const withWebhooks = { access, restrictions: allButWebhooks }
    expect(await edit(key, admin.id, { access })).toEqual(REFUSED)
    expect(await edit(key, admin.id, withWebhooks)).toEqual(REFUSED)
    const hooks = await keyWith('Manage Webhooks')
    expect(await edit(hooks, admin.id, withWebhooks)).toEqual(DONE)
    expect(await edit(hooks, admin.id, { restrictions: [] })).toEqual(REFUSED)
    expect(await edit(key, admin.id, { first_name: 'Augusta' })).toEqual(DONE)
    expect(await edit(key, admin.id, { restrictions: RESTRICTION_NAMES })).toEqual(DONE)
    expect(await edit(key, admin.id, { restrictions: allButWebhooks })).toEqual(REFUSED)
    expect(await edit(key, admin.id, { access: 'billing_only' })).toEqual(DONE)
  })

  it('takes Full Access from nobody by a key, whatever the key holds', async () => {
    const admin = await newAdmin()
    const mighty = await api.createKey([...PERMISSIONS])
    const remove = async (id: string) => {
      const answer = await api.request<TestRefusal>(`/admin_users/${id}`, {
        method: 'DELETE',
        key: mighty,
      })
      return [answer.status, answer.body.code]
    }
    expect(await edit(mighty, admin.id, { access: 'limited' })).toEqual(REFUSED)
    expect(await edit(mighty, admin.id, { access: 'billing_only' })).toEqual(REFUSED)
    expect(await edit(mighty, admin.id, { deactivated: true })).toEqual(REFUSED)
    expect(await remove(admin.id)).toEqual(REFUSED)
    // Nor while the admin is kept out, to whom it is given back as it was.
    await call(`/admin_users/${admin.id}`, 'PATCH', { deactivated: true })
    expect(await edit(mighty, admin.id, { access: 'limited' })).toEqual(REFUSED)
    expect(await edit(mighty, admin.id, { access: 'limited', deactivated: false })).toEqual(REFUSED)
    expect(await remove(admin.id)).toEqual(REFUSED)
    expect(await edit(mighty, admin.id, { first_name: 'Augusta' })).toEqual(DONE)
    expect(await remove((await newAdmin('limited')).id)).toEqual([200, undefined])
  })

  it('learns nothing by a key of admins that do not exist', async () => {
    expect(await edit(key, '999999', { access: 'full' })).toEqual([404, 'not_found'])
  })
})
