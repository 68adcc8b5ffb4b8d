import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServiceApi, type ServiceApi } from '../../../../test/support/composed-api.ts'
import { createPosture, PASS, type Posture } from '../../../../test/support/posture-fixtures.ts'
import {
  addSignedInPerson,
  openPersonPages,
  type SignedInPerson,
} from '../../../../test/support/signed-in-person.ts'
import { SYSTEM_ACTOR } from '../../../changes/audit/audit-entry.ts'
import { DAY_MS } from '../../../platform/clock.ts'
import { configureCheck } from '../../../posture/checks/configuration/configure-check.ts'

type PersonPages = ReturnType<typeof openPersonPages>

let api: ServiceApi
let posture: Posture
let get: PersonPages['get']
let post: PersonPages['post']

beforeAll(async () => {
  api = await createServiceApi()
  posture = createPosture(api.db)
  ;({ get, post } = openPersonPages(api))
})

afterAll(async () => {
  await api.close()
})

const NOTICE = { remediation_strategy: 'notify_only' } as const
const warning = (days: number) =>
  ({ remediation_strategy: 'warn_then_block', grace_period_days: days }) as const

const pathOf = ({ deviceId }: SignedInPerson) => `/sign-in/me/devices/${deviceId}`
const snooze = async (somebody: SignedInPerson, days: string, issueId = somebody.issueId) =>
  post(`${pathOf(somebody)}/snooze`, somebody.cookie, { issue_id: issueId, days })
const storedOf = async ({ issueId }: SignedInPerson) =>
  api.db
    .selectFrom('issue')
    .select(['snoozed_at', 'snoozed_until'])
    .where('id', '=', issueId)
    .executeTakeFirst()
const shownOf = async ({ issueId }: SignedInPerson) =>
  (await api.request<{ snoozed_until: string | null }>(`/issues/${issueId}`)).body.snoozed_until
const inDays = (days: number) => new Date(api.clock.now().getTime() + days * DAY_MS)

describe('putting an issue off', () => {
  it('is shown to its person, to admins, and in the audit log under the name of the person', async () => {
    const ada = await addSignedInPerson(api, posture, NOTICE)
    expect((await get(pathOf(ada), ada.cookie)).body).toContain('Not now: remind me later')
    expect((await snooze(ada, '3')).headers.location).toBe(pathOf(ada))
    expect(await storedOf(ada)).toEqual({
      snoozed_at: api.clock.now(),
      snoozed_until: inDays(3),
    })
    const { body } = await get(pathOf(ada), ada.cookie)
    expect(body).toContain('You are reminded again on')
    expect(body).not.toContain('Not now: remind me later')
    expect(await shownOf(ada)).toBe(inDays(3).toISOString())
    const entry = await api.db
      .selectFrom('audit_entry')
      .select(['actor_type', 'actor_id', 'description'])
      .where('action', '=', 'issue.snoozed')
      .where('target_id', '=', ada.issueId)
      .executeTakeFirst()
    expect(entry).toEqual({
      actor_type: 'Person',
      actor_id: ada.personId,
      description: `put off the issue "Trouble ${ada.number}" for 3 days`,
    })
    const timeline = await api.request<{ data: { kind: string }[] }>(
      `/devices/${ada.deviceId}/timeline`,
    )
    expect(timeline.body.data.map(({ kind }) => kind)).toContain('issue_snoozed')
  })

  it('changes nothing about when the device blocks', async () => {
    const ada = await addSignedInPerson(api, posture, warning(10))
    const statusOf = async () =>
      api.db
        .selectFrom('device as d')
        .innerJoin('issue as i', 'i.device_id', 'd.id')
        .select(['d.auth_state', 'd.will_block_at', 'd.reevaluate_at', 'i.blocks_device_at'])
        .where('d.id', '=', ada.deviceId)
        .executeTakeFirst()
    const before = await statusOf()
    expect(before?.blocks_device_at).toEqual(inDays(10))
    await snooze(ada, '7')
    expect(await statusOf()).toEqual(before)
  })

  it('can be taken back, which makes no room for another time within the week', async () => {
    const ada = await addSignedInPerson(api, posture, NOTICE)
    await snooze(ada, '7')
    await snooze(ada, 'none')
    const { body } = await get(pathOf(ada), ada.cookie)
    expect(body).not.toContain('You are reminded again on')
    expect((await snooze(ada, '1')).statusCode).toBe(409)
    expect((await storedOf(ada))?.snoozed_until).toEqual(api.clock.now())
  })

  it('is over once the issue is resolved', async () => {
    const ada = await addSignedInPerson(api, posture, NOTICE)
    await snooze(ada, '7')
    await posture.report(ada.deviceId, { [ada.checkId]: PASS })
    expect(await shownOf(ada)).toBeNull()
  })

  it.each([
    ['that blocks already', { remediation_strategy: 'block_immediately' }],
    ['that blocks before it would be shown again', warning(3)],
    ['whose check does not allow it', { ...NOTICE, snooze_disallowed: true }],
  ] as const)('is not for an issue %s', async (_what, check) => {
    const ada = await addSignedInPerson(api, posture, check)
    expect((await snooze(ada, '7')).statusCode).toBe(409)
    expect((await storedOf(ada))?.snoozed_until).toBeNull()
  })

  it('is for the own issues, from the own pages, for a number of days', async () => {
    const [ada, eve] = [
      await addSignedInPerson(api, posture, NOTICE),
      await addSignedInPerson(api, posture, NOTICE),
    ]
    const fields = { issue_id: ada.issueId, days: '3' }
    const tries = [
      await snooze(eve, '3', ada.issueId),
      await post(`${pathOf(ada)}/snooze`, eve.cookie, fields),
      await post(`${pathOf(ada)}/snooze`, ada.cookie, fields, 'cross-site'),
      await snooze(ada, '2'),
      await snooze(ada, '-1'),
      await snooze(ada, ''),
    ]
    expect(tries.map(({ statusCode }) => statusCode)).toEqual([404, 404, 403, 409, 422, 422])
    expect(await storedOf(ada)).toEqual({ snoozed_at: null, snoozed_until: null })
  })
})

describe('an issue that is put off is shown again', () => {
  const configure = async (checkId: string, changes: Parameters<typeof configureCheck>[2]) =>
    api.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
      configureCheck(change, checkId, changes),
    )
  const isPutOff = async (somebody: SignedInPerson) =>
    (await get(pathOf(somebody), somebody.cookie)).body.includes('You are reminded again on')

  it('as soon as its check allows it no more', async () => {
    const ada = await addSignedInPerson(api, posture, NOTICE)
    await snooze(ada, '7')
    expect(await isPutOff(ada)).toBe(true)
    await configure(ada.checkId, { snooze_disallowed: true })
    expect(await isPutOff(ada)).toBe(false)
    expect(await shownOf(ada)).toBeNull()
  })

  it('a day before it blocks, also where that comes closer afterwards', async () => {
    const ada = await addSignedInPerson(api, posture, warning(10))
    await snooze(ada, '7')
    expect(await shownOf(ada)).toBe(inDays(7).toISOString())
    await configure(ada.checkId, { block_auth_grace_period_days: 5 })
    expect(await shownOf(ada)).toBe(inDays(4).toISOString())
    expect(await isPutOff(ada)).toBe(true)
    await configure(ada.checkId, { block_auth_grace_period_days: 1 })
    expect(await isPutOff(ada)).toBe(false)
  })
})
