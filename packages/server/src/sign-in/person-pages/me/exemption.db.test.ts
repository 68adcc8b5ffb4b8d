import { afterAll, beforeAll, expect, it } from 'vitest'
import { createServiceApi, type ServiceApi } from '../../../../test/support/composed-api.ts'
import { createPosture, type Posture } from '../../../../test/support/posture-fixtures.ts'
import {
  addSignedInPerson,
  openPersonPages,
  type SignedInPerson,
} from '../../../../test/support/signed-in-person.ts'
import { SYSTEM_ACTOR } from '../../../changes/audit/audit-entry.ts'
import { DAY_MS } from '../../../platform/clock.ts'
import {
  decideExemptionRequest,
  type ExemptionDecision,
} from '../../../posture/issues/exemptions/decide-exemption-request.ts'

let api: ServiceApi
let posture: Posture
let pages: ReturnType<typeof openPersonPages>

beforeAll(async () => {
  api = await createServiceApi()
  posture = createPosture(api.db)
  pages = openPersonPages(api)
})

afterAll(async () => {
  await api.close()
})

const pathOf = ({ deviceId }: SignedInPerson) => `/sign-in/me/devices/${deviceId}`
const pageOf = async (somebody: SignedInPerson) =>
  (await pages.get(pathOf(somebody), somebody.cookie)).body
const send = async (
  somebody: SignedInPerson,
  action: string,
  fields: Record<string, string> = {},
  cookie = somebody.cookie,
) => pages.post(`${pathOf(somebody)}/${action}`, cookie, { issue_id: somebody.issueId, ...fields })
const ask = async (somebody: SignedInPerson) => send(somebody, 'exemption', { reason: 'I need it' })
const requestOf = async ({ deviceId }: SignedInPerson) =>
  api.db
    .selectFrom('exemption_request')
    .select(['id', 'status'])
    .where('device_id', '=', deviceId)
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
const decide = async (somebody: SignedInPerson, decision: ExemptionDecision) => {
  const { id } = await requestOf(somebody)
  return api.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    decideExemptionRequest(change, id, decision),
  )
}

it('a request is withdrawn by whoever made it, and can be made again', async () => {
  const ada = await addSignedInPerson(api, posture)
  await ask(ada)
  expect(await pageOf(ada)).toContain('Withdraw my request')
  const eve = await addSignedInPerson(api, posture)
  expect((await send(ada, 'withdraw', {}, eve.cookie)).statusCode).toBe(404)
  expect((await send(ada, 'withdraw')).headers.location).toBe(pathOf(ada))
  expect((await requestOf(ada)).status).toBe('withdrawn')
  expect((await send(ada, 'withdraw')).statusCode).toBe(409)
  expect(await pageOf(ada)).toContain('Send the request')
  await ask(ada)
  expect((await requestOf(ada)).status).toBe('open')
})

it('a request that somebody else made for the device cannot be withdrawn, nor its denial be read', async () => {
  const ada = await addSignedInPerson(api, posture)
  const eve = await addSignedInPerson(api, posture)
  await ask(ada)
  const { id } = await requestOf(ada)
  await api.db
    .updateTable('exemption_request')
    .set({ requester_person_id: eve.personId })
    .where('id', '=', id)
    .execute()
  expect(await pageOf(ada)).not.toContain('Withdraw my request')
  expect((await send(ada, 'withdraw')).statusCode).toBe(409)
  await decide(ada, { status: 'denied', internalMessage: 'x', denialExplanation: 'Dear Eve' })
  expect(await pageOf(ada)).toContain('was denied.')
  expect(await pageOf(ada)).not.toContain('Dear Eve')
})

it('a denial is read with its reason, and never with what admins wrote for themselves', async () => {
  const ada = await addSignedInPerson(api, posture)
  await ask(ada)
  const words = { internalMessage: 'unlikely story', denialExplanation: 'Use the <other> tool.' }
  await decide(ada, { status: 'denied', ...words })
  const body = await pageOf(ada)
  expect(body).toContain('<q>Use the &lt;other> tool.</q>')
  expect(body).not.toContain('unlikely story')
})

it('an exemption is shown with its end', async () => {
  const ada = await addSignedInPerson(api, posture)
  await ask(ada)
  const expiresAt = new Date(api.clock.now().getTime() + 3 * DAY_MS)
  await decide(ada, { status: 'approved', internalMessage: '', expiresAt })
  const body = await pageOf(ada)
  expect(body).toContain('Exempted')
  expect(body).toContain(`It does not count until <time datetime="${expiresAt.toISOString()}"`)
})

it('nothing can be asked for where the check allows no exemption, or the issue is one of the person', async () => {
  const ada = await addSignedInPerson(api, posture, { exemptions_disallowed: true })
  expect(await pageOf(ada)).not.toContain('Send the request')
  expect((await ask(ada)).statusCode).toBe(409)
  const eve = await addSignedInPerson(api, posture)
  await api.db
    .updateTable('issue')
    .set({ device_id: null, person_id: eve.personId })
    .where('id', '=', eve.issueId)
    .execute()
  const body = await pageOf(eve)
  expect(body).toContain(`Trouble ${eve.number}`)
  expect(body).not.toContain('Send the request')
})
