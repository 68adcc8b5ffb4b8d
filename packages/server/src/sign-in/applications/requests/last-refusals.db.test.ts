import { afterAll, beforeAll, expect, it } from 'vitest'
import { createServiceApi, type ServiceApi } from '../../../../test/support/composed-api.ts'
import {
  addRefusedRequest,
  listRefusedRequests,
  REFUSED_KEPT_MAX,
} from './refused-request-store.ts'

const REDIRECT = 'https://wiki.example.com/callback'

let api: ServiceApi
let key: string
let application: { readonly id: string; readonly client_id: string }

beforeAll(async () => {
  api = await createServiceApi()
  key = await api.createKey(['Manage Sign-in', 'Read Sign-in'])
  application = (
    await api.request<typeof application>('/sign_in_applications', {
      method: 'POST',
      key,
      payload: { name: 'Wiki', redirect_uris: [REDIRECT] },
    })
  ).body
})
afterAll(() => api.close())

interface Refusals {
  readonly data: readonly { readonly field: string; readonly given: string | null }[]
  readonly unknown_clients: readonly object[]
}

const listRefusals = async () =>
  (await api.request<Refusals>(`/sign_in_applications/${application.id}/last_refusals`, { key }))
    .body

const authorize = async (changes: Readonly<Record<string, string>>) =>
  api.app.inject({
    url: '/sign-in/authorize',
    query: {
      client_id: application.client_id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'openid',
      ...changes,
    },
  })

it('requests that were refused say which field was wrong, and equal ones are counted', async () => {
  const other = 'https://wiki.example.com/other'
  await authorize({ redirect_uri: other })
  await authorize({ redirect_uri: other, state: 'two' })
  await expect
    .poll(listRefusals)
    .toMatchObject({ data: [{ field: 'redirect_uri', given: other, request_count: 2 }] })
  await authorize({ client_id: 'hga_nobody' })
  await expect
    .poll(listRefusals)
    .toMatchObject({ unknown_clients: [{ field: 'client_id', given: 'hga_nobody' }] })
})

it('a wrong secret is told, and not kept', async () => {
  const secret = 'hgs_wrong'
  await api.app.inject({
    method: 'POST',
    url: '/sign-in/token',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${btoa(`${application.client_id}:${secret}`)}`,
    },
    payload: `grant_type=authorization_code&code=x&redirect_uri=${encodeURIComponent(REDIRECT)}`,
  })
  await expect
    .poll(async () => (await listRefusals()).data[0])
    .toMatchObject({ field: 'client_secret', given: null })
  const rows = await api.db.selectFrom('sign_in_refused_request').selectAll().execute()
  expect(JSON.stringify(rows)).not.toContain(secret)
})

it('the last few are kept of an application', async () => {
  const at = (minute: number) => new Date(Date.UTC(2027, 0, 1, 0, minute))
  for (let minute = 0; minute < REFUSED_KEPT_MAX + 3; minute += 1) {
    await addRefusedRequest(api.db, {
      applicationId: application.id,
      endpoint: 'authorization',
      code: 'invalid_request',
      field: 'scope',
      given: `scope${minute}`,
      at: at(minute),
    })
  }
  const kept = await listRefusedRequests(api.db, application.id)
  expect(kept).toHaveLength(REFUSED_KEPT_MAX)
  expect(kept.at(-1)?.given).toBe('scope3')
})
