/* What wakes a held device in a whole service: every way in which work comes to be. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestKey } from '../../../test/support/api-keys.ts'
import { composeTestApi } from '../../../test/support/composed-api.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { requestCheckRefresh } from '../../posture/checks/request-check-refresh.ts'
import type { DeviceQuestionsPart } from '../../posture/device-questions/device-questions-part.ts'
import { createEnrollmentSecret } from '../../posture/enrollment/secrets/create-enrollment-secret.ts'

interface Answer {
  readonly node_key?: string
  readonly queries?: Readonly<Record<string, string>>
}

const api = await composeTestApi({
  environment: {
    HELIOGRAPH_LOG_LEVEL: 'silent',
    HELIOGRAPH_ROLES: 'api,agents,worker',
    HELIOGRAPH_CHECK_IN_HOLD_SECONDS: '12',
  },
})
afterAll(() => api.close())
const { services, http, parts } = api
const key = await createTestKey(services, ['Create Live Query'])
let nodeKey: string | undefined

const post = async (path: string, payload: object) =>
  (await http.inject({ method: 'POST', url: `/osquery/${path}`, payload })).json<Answer>()

beforeAll(async () => {
  const { secret } = await services.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    createEnrollmentSecret(change, services.sealer, { name: 'x', personId: null, expiresAt: null }),
  )
  const enrolled = await post('enroll', {
    enroll_secret: secret,
    host_identifier: 'host',
    platform_type: '9',
    host_details: { system_info: { uuid: '00000000-0000-4000-8000-000000000001' } },
  })
  nodeKey = enrolled.node_key
  const { queries = {} } = await post('distributed/read', { node_key: nodeKey })
  await answer(Object.keys(queries))
})

const answer = (ids: readonly string[]) =>
  post('distributed/write', {
    node_key: nodeKey,
    queries: Object.fromEntries(ids.map((id) => [id, [{ KOLIDE_CHECK_STATUS: 'PASS' }]])),
    statuses: Object.fromEntries(ids.map((id) => [id, 0])),
  })

const countHeld = () => {
  const metrics = parts.list.flatMap((part) => part.metrics ?? [])
  return metrics.find(({ name }) => name === 'heliograph_check_ins_held')?.read()
}

/** The ids that a held device is asked after `cause`: a hold that lasts to its end brings none. */
async function askedAfter(cause: () => Promise<unknown>): Promise<readonly string[]> {
  const read = post('distributed/read', { node_key: nodeKey })
  await expect.poll(countHeld).toBe(1)
  await cause()
  return Object.keys((await read).queries ?? {})
}

test('a live query', async () => {
  const ids = await askedAfter(async () => {
    const created = await http.inject({
      method: 'POST',
      url: '/live_query_campaigns',
      headers: { authorization: `Bearer ${key}` },
      payload: { name: 'who', sql: 'select * from users', target_all_devices: true },
    })
    expect(created.statusCode).toBe(200)
  })
  expect(ids).toEqual([expect.stringMatching(/^live:/)])
  await answer(ids)
})

test('a rerun of a check', async () => {
  const { id } = await services.db
    .selectFrom('check_result')
    .select('check_id as id')
    .limit(1)
    .executeTakeFirstOrThrow()
  const ids = await askedAfter(() =>
    services.runChange({ actor: SYSTEM_ACTOR }, (change) => requestCheckRefresh(change, '1', id)),
  )
  expect(ids).toEqual([expect.stringMatching(`^check:${id}:`)])
  await answer(ids)
})

test('a question, which whoever asked has answered', async () => {
  const part = parts.list.find(({ name }) => name === 'device questions') as DeviceQuestionsPart
  let asked: ReturnType<DeviceQuestionsPart['askDevices']> | undefined
  const ids = await askedAfter(async () => {
    const question = { deviceId: '1', sql: 'select 1', purpose: 'sign_in_proof' } as const
    asked = part.askDevices([question], { timeoutMs: 30 * SECOND_MS })
  })
  expect(ids).toEqual([expect.stringMatching(/^ask:/)])
  await answer(ids)
  expect(await asked).toMatchObject([
    { status: 'answered', rows: [{ KOLIDE_CHECK_STATUS: 'PASS' }] },
  ])
})

test('the end of the process', async () => {
  expect(
    await askedAfter(async () => {
      for (const { endWaiting } of parts.list) endWaiting?.()
    }),
  ).toEqual([])
})
