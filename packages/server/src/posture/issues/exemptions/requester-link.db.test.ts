import { afterAll, beforeAll, expect, it } from 'vitest'
import { BASE_URL, createTestApi, type TestApi } from '../../../../test/support/api-app.ts'
import { insertDevice, insertPerson } from '../../../../test/support/factories.ts'
import { exemptionRequestRoutes } from './exemption-request-routes.ts'

let api: TestApi

beforeAll(async () => {
  api = await createTestApi(({ db, runChange }) =>
    exemptionRequestRoutes({ db, baseUrl: BASE_URL, runChange }),
  )
})
afterAll(() => api.close())

it('a request leads to where its requester is, also once deprovisioned', async () => {
  const { db } = api
  const at = api.clock.now()
  const requester = await insertPerson(db, { deprovisioned_at: at })
  const { id } = await db
    .insertInto('exemption_request')
    .values({
      requester_person_id: requester,
      device_id: await insertDevice(db),
      requester_message: 'It is a spare machine.',
      requested_at: at,
      updated_at: at,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const { body } = await api.request(`/exemption_requests/${id}`)
  const link = `${BASE_URL}/deprovisioned_people/${requester}`
  expect(body).toMatchObject({ requester_information: { identifier: requester, link } })
})
