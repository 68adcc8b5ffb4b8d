import { afterAll, beforeAll, expect, it } from 'vitest'
import { BASE_URL, createTestApi, type TestApi } from '../../../test/support/api-app.ts'
import { insertPerson, insertPersonGroup } from '../../../test/support/factories.ts'
import { scimSettingsRoutes } from './scim-settings-routes.ts'

let api: TestApi

beforeAll(async () => {
  api = await createTestApi((parts) => scimSettingsRoutes({ ...parts, baseUrl: BASE_URL }))
})
afterAll(() => api.close())

it('shows the address, the live keys that provision, and whom they keep', async () => {
  const at = api.clock.now()
  await insertPerson(api.db, { email: 'signed.in@example.com' })
  await insertPerson(api.db, { email: 'a@example.com', user_name: 'a' })
  await insertPerson(api.db, { email: 'b@example.com', user_name: 'b', deprovisioned_at: at })
  await insertPersonGroup(api.db, { name: 'Staff' })
  const key = await api.createKey(['Manage People'])
  await api.createKey(['Manage People'])
  const { id } = await api.db
    .selectFrom('api_key')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  await api.db.updateTable('api_key').set({ revoked_at: at }).where('id', '=', id).execute()
  const { status, body } = await api.request<{ keys: object[] }>('/scim_settings', { key })
  expect(status).toBe(200)
  expect(body).toEqual({
    base_url: `${BASE_URL}/scim/v2`,
    permission: 'Manage People',
    keys: [expect.objectContaining({ secret_last_four: key.slice(-4), last_used_at: null })],
    active_user_count: 1,
    inactive_user_count: 1,
    group_count: 1,
  })
})

it('is not shown to a key that may not provision', async () => {
  expect((await api.request('/scim_settings')).status).toBe(403)
})
