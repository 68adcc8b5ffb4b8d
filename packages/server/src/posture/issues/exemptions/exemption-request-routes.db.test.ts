import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BASE_URL, type TestApi, type TestRefusal } from '../../../../test/support/api-app.ts'
import { listAuditEntries } from '../../../../test/support/write-contract.ts'
import { insertPerson } from '../../../../test/support/factories.ts'
import { createPostureApi, type PostureApi } from '../../../../test/support/posture-api.ts'
import { FAIL, PASS, type Posture } from '../../../../test/support/posture-fixtures.ts'
import {
  describeListContract,
  describeRecordContract,
} from '../../../../test/support/read-contract.ts'
import { waitForLock } from '../../../../test/support/wait-for-lock.ts'
import { settleDueDevices } from '../../devices/settle-due-devices.ts'
import { DAY_MS } from '../../../platform/clock.ts'
import type { ExemptionRequestRecord } from './exemption-request-read.ts'
import { exemptionRequestRoutes } from './exemption-request-routes.ts'

interface RequestBody {
  readonly id: string
  readonly status: ExemptionRequestRecord['status']
  readonly [name: string]: unknown
}

let api: TestApi
let posture: Posture
let key: string
let advance: PostureApi['advance']
let personId: string

beforeAll(async () => {
  ;({ api, posture, key, advance } = await createPostureApi(
    'Manage User Requests',
    ({ db, runChange }) => exemptionRequestRoutes({ db, baseUrl: BASE_URL, runChange }),
  ))
  personId = await insertPerson(api.db, { email: 'ada@example.com' })
})

afterAll(() => api.close())

const post = <Body = RequestBody>(payload: object) =>
  api.request<Body>('/exemption_requests', { method: 'POST', key, payload })
const patch = <Body = RequestBody>(id: string, payload: object) =>
  api.request<Body>(`/exemption_requests/${id}`, { method: 'PATCH', key, payload })
const readDevice = (id: string) =>
  api.db.selectFrom('device').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const listIssues = (deviceId: string) =>
  api.db.selectFrom('issue').selectAll().where('device_id', '=', deviceId).orderBy('id').execute()
const listAudit = (id: string) => listAuditEntries(api, { type: 'exemption_request', id })
const inDays = (days: number) => new Date(api.clock.now().getTime() + days * DAY_MS)
const approve = (id: string, more: object = {}) =>
  patch(id, { status: 'approved', internal_message: 'A spare machine.', ...more })
const deny = (id: string) =>
  patch(id, {
    status: 'denied',
    internal_message: 'Too risky.',
    denial_explanation: 'Please encrypt the disk.',
  })

/** A device that fails one check, which blocks it at once. */
async function addFailure(values: Parameters<Posture['insertCheck']>[0] = {}) {
  // Checks of other tests do not run on this device.
  await api.db
    .updateTable('posture_check')
    .set({ platforms: ['windows'] })
    .execute()
  const checkId = await posture.insertCheck({ platforms: ['darwin'], ...values })
  const deviceId = await posture.insertDevice()
  await posture.report(deviceId, { [checkId]: FAIL })
  const [issue] = await listIssues(deviceId)
  return { checkId, deviceId, issueId: issue?.id ?? '' }
}

async function ask(issueIds: readonly string[], more: object = {}): Promise<string> {
  const { status, body } = await post({
    person_id: personId,
    issue_ids: issueIds,
    requester_message: 'It is a spare machine.',
    ...more,
  })
  expect(status).toBe(200)
  return body.id
}

describe('GET /exemption_requests', () => {
  let lastId: string
  let lastIssueId: string
  beforeAll(async () => {
    for (const message of ['The first one', 'Another one', 'A third one', 'Something else']) {
      const { issueId } = await addFailure()
      lastId = await ask([issueId], { requester_message: message })
      lastIssueId = issueId
      advance(DAY_MS)
    }
    await approve(lastId)
  })

  describeListContract({
    api: () => api,
    path: () => '/exemption_requests',
    fields: ['status (:)', 'requested_at (: < >)', 'requester_message (: ~)', 'issue_id (:)'],
    narrowSearch: () => 'requester_message~" one"',
  })

  describeRecordContract({
    api: () => api,
    path: () => `/exemption_requests/${lastId}`,
  })

  it.each([
    ['status:approved', 1],
    ['status:open', 3],
    ['requester_message:"Another one"', 1],
    ['requester_message~ANOTHER', 1],
    ['requested_at>2026-01-04', 2],
    ['requested_at<2026-01-04', 2],
    ['issue_id:LAST', 1],
  ])('searches by %s', async (query, count) => {
    const { body } = await api.request<{ data: RequestBody[] }>(
      `/exemption_requests?query=${encodeURIComponent(query.replace('LAST', lastIssueId))}`,
    )
    expect(body.data).toHaveLength(count)
  })
})

describe('POST /exemption_requests', () => {
  it('asks for a person, changes no status, and leaves an audit entry', async () => {
    const { deviceId, issueId } = await addFailure()
    const { status, body } = await post({
      person_email: 'ADA@example.com',
      issue_ids: [Number(issueId), issueId],
      requester_message: ' It is a spare machine. ',
      covers_future_issues: true,
      expires_at: inDays(3).toISOString(),
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.any(String) as string,
      status: 'open',
      internal_explanation: null,
      denial_explanation: null,
      requested_at: api.clock.now().toISOString(),
      requester_message: 'It is a spare machine.',
      requester_information: { identifier: personId, link: `${BASE_URL}/people/${personId}` },
      device_information: { identifier: deviceId, link: `${BASE_URL}/devices/${deviceId}` },
      issues: [{ identifier: issueId, link: `${BASE_URL}/issues/${issueId}` }],
      covers_future_issues: true,
      expires_at: inDays(3).toISOString(),
      decided_at: null,
      decided_by: null,
    })
    expect((await api.request(`/exemption_requests/${body.id}`)).body).toEqual(body)
    expect((await readDevice(deviceId)).auth_state).toBe('Blocked')
    expect(await listAudit(body.id)).toMatchObject([
      {
        action: 'exemption_request.created',
        after: { requester_email: 'ada@example.com', issue_ids: [issueId] },
      },
    ])
  })

  it('refuses issues that are resolved, asked for already, or of a check that allows none', async () => {
    const { checkId, deviceId, issueId } = await addFailure()
    const request = { person_id: personId, issue_ids: [issueId], requester_message: 'Please.' }
    const id = await ask([issueId])
    const again = await post<TestRefusal>(request)
    expect(again.status).toBe(409)
    expect(again.body.message).toContain(`exemption request ${id}`)
    await patch(id, { status: 'withdrawn' })
    await api.db
      .updateTable('posture_check')
      .set({ exemptions_disallowed: true })
      .where('id', '=', checkId)
      .execute()
    expect((await post(request)).status).toBe(409)
    await api.db
      .updateTable('posture_check')
      .set({ exemptions_disallowed: false })
      .where('id', '=', checkId)
      .execute()
    await posture.report(deviceId, { [checkId]: PASS })
    const resolved = await post<TestRefusal>(request)
    expect(resolved.status).toBe(409)
    expect(resolved.body.message).toContain('resolved')
  })

  it('refuses issues of several devices', async () => {
    const [one, other] = [await addFailure(), await addFailure()]
    const { status, body } = await post<TestRefusal>({
      person_id: personId,
      issue_ids: [one.issueId, other.issueId],
      requester_message: 'Please.',
    })
    expect(status).toBe(422)
    expect(body.details).toMatchObject([{ path: 'issue_ids' }])
  })

  it.each([
    ['person_id', { person_id: undefined }],
    ['person_id', { person_id: '999999' }],
    ['person_id', { person_id: 'x' }],
    ['person_id', { person_email: 'ada@example.com' }],
    ['person_email', { person_id: undefined, person_email: 'nobody@example.com' }],
    ['issue_ids', { issue_ids: [] }],
    ['issue_ids.0', { issue_ids: ['999999'] }],
    ['issue_ids.0', { issue_ids: ['x'] }],
    ['issue_ids', { issue_ids: Array.from({ length: 101 }, (_, place) => place + 1) }],
    ['requester_message', { requester_message: '  ' }],
    ['requester_message', { requester_message: 'x'.repeat(4_001) }],
    ['requester_message', { requester_message: undefined }],
    ['expires_at', { expires_at: '2020-01-01T00:00:00Z' }],
    ['expires_at', { expires_at: 'soon' }],
    ['covers_future_issues', { covers_future_issues: 'yes' }],
    ['status', { status: 'approved' }],
  ])('refuses a bad %s (case %#)', async (path, values) => {
    const { issueId } = await addFailure()
    const { status, body } = await post<TestRefusal>({
      person_id: personId,
      issue_ids: [issueId],
      requester_message: 'Please.',
      ...values,
    })
    expect(status).toBe(422)
    expect(body.details?.map((detail) => detail.path)).toContain(path)
  })

  it('refuses without a key and without the permission, which it names', async () => {
    const payload = { person_id: personId, issue_ids: ['1'], requester_message: 'Please.' }
    const send = (sent: string | null) =>
      api.request<TestRefusal>('/exemption_requests', { method: 'POST', key: sent, payload })
    expect((await send(null)).status).toBe(401)
    const { status, body } = await send(api.key)
    expect(status).toBe(403)
    expect(body.message).toContain('Manage User Requests')
  })
})

describe('PATCH /exemption_requests/{id}', () => {
  it('approves: the issue no longer counts, and the status follows in the same change', async () => {
    const { deviceId, issueId } = await addFailure()
    const id = await ask([issueId])
    const { status, body } = await approve(id)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'approved',
      internal_explanation: 'A spare machine.',
      decided_at: api.clock.now().toISOString(),
      decided_by: expect.stringMatching(/^key /) as string,
    })
    expect(await listIssues(deviceId)).toMatchObject([
      {
        exempted_at: api.clock.now(),
        exemption_expires_at: null,
        exemption_reason: 'A spare machine.',
      },
    ])
    expect((await readDevice(deviceId)).auth_state).toBe('Good')
    expect(posture.announced.at(-1)).toMatchObject({
      device: { id: deviceId },
      initiatingEntity: 'admin',
      current: { authState: 'Good', compliance: 'compliant' },
    })
    expect(await listAudit(id)).toMatchObject([
      { action: 'exemption_request.created' },
      {
        action: 'exemption_request.approved',
        before: { status: 'open', internal_explanation: null },
        after: { status: 'approved', internal_explanation: 'A spare machine.' },
      },
    ])
  })

  it('exempts as of the turn of the decision, not as of its beginning', async () => {
    const { deviceId, issueId } = await addFailure()
    const id = await ask([issueId])
    const other = await api.db.startTransaction().execute()
    await other.selectFrom('device').selectAll().where('id', '=', deviceId).forUpdate().execute()
    const deciding = approve(id)
    await waitForLock(api.db)
    advance(1_000)
    await other.commit().execute()
    expect((await deciding).body).toMatchObject({ decided_at: api.clock.now().toISOString() })
    expect(await listIssues(deviceId)).toMatchObject([{ exempted_at: api.clock.now() }])
    expect(posture.announced.at(-1)).toMatchObject({
      current: { authState: 'Good' },
      occurredAt: api.clock.now(),
    })
  })

  it('ends an exemption at its end, to the second', async () => {
    const { deviceId, issueId } = await addFailure()
    const end = inDays(2)
    await approve(await ask([issueId]), { expires_at: end.toISOString() })
    expect((await readDevice(deviceId)).reevaluate_at).toEqual(end)
    advance(3 * DAY_MS)
    await settleDue()
    expect(await readDevice(deviceId)).toMatchObject({
      auth_state: 'Blocked',
      status_changed_at: end,
    })
    expect(await listIssues(deviceId)).toMatchObject([
      { exempted_at: null, exemption_expires_at: null, exemption_reason: null },
    ])
  })

  it('no longer tells an issue to be exempted after the end, although another one blocks', async () => {
    const { checkId, deviceId, issueId } = await addFailure()
    const other = await posture.insertCheck({ platforms: ['darwin'] })
    await posture.report(deviceId, { [checkId]: FAIL, [other]: FAIL })
    await approve(await ask([issueId]), { expires_at: inDays(1).toISOString() })
    expect((await readDevice(deviceId)).auth_state).toBe('Blocked')
    advance(2 * DAY_MS)
    await settleDue()
    expect((await listIssues(deviceId))[0]).toMatchObject({ exempted_at: null })
  })

  it('covers later issues of the same check on the device only when it is asked to', async () => {
    for (const coversFutureIssues of [false, true]) {
      const { checkId, deviceId, issueId } = await addFailure()
      await approve(await ask([issueId]), { covers_future_issues: coversFutureIssues })
      await posture.report(deviceId, { [checkId]: PASS })
      await posture.report(deviceId, { [checkId]: FAIL })
      const [, later] = await listIssues(deviceId)
      expect(later?.exempted_at ?? null).toEqual(coversFutureIssues ? api.clock.now() : null)
      expect((await readDevice(deviceId)).auth_state).toBe(coversFutureIssues ? 'Good' : 'Blocked')
    }
  })

  it.each([
    ['denied', 'exemption_request.denied'],
    ['open', 'exemption_request.reopened'],
  ])('an approved request that becomes %s exempts no longer', async (next, action) => {
    const { deviceId, issueId } = await addFailure()
    const id = await ask([issueId])
    await approve(id)
    const { status, body } = await (next === 'denied' ? deny(id) : patch(id, { status: next }))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: next,
      denial_explanation: next === 'denied' ? 'Please encrypt the disk.' : null,
      internal_explanation: next === 'denied' ? 'Too risky.' : null,
    })
    expect(await listIssues(deviceId)).toMatchObject([{ exempted_at: null }])
    expect((await readDevice(deviceId)).auth_state).toBe('Blocked')
    expect((await listAudit(id)).at(-1)).toMatchObject({ action, before: { status: 'approved' } })
  })

  it('leaves an exemption that another request has granted', async () => {
    const { deviceId, issueId } = await addFailure()
    const first = await ask([issueId])
    await approve(first, { expires_at: inDays(1).toISOString() })
    const second = await ask([issueId])
    await approve(second, { expires_at: inDays(5).toISOString() })
    expect((await listIssues(deviceId))[0]?.exemption_expires_at).toEqual(inDays(5))
    await deny(second)
    expect((await listIssues(deviceId))[0]?.exemption_expires_at).toEqual(inDays(1))
    expect((await readDevice(deviceId)).auth_state).toBe('Good')
  })

  it('takes a repeated decision as a change of its messages, and the very same as none', async () => {
    const { issueId } = await addFailure()
    const id = await ask([issueId])
    const { body: first } = await approve(id)
    advance(DAY_MS)
    expect((await approve(id)).body).toEqual(first)
    const { body } = await approve(id, { internal_message: 'Until it is replaced.' })
    expect(body).toEqual({ ...first, internal_explanation: 'Until it is replaced.' })
    expect((await listAudit(id)).map(({ action }) => action)).toEqual([
      'exemption_request.created',
      'exemption_request.approved',
      'exemption_request.approved',
    ])
  })

  it('answers PUT as well', async () => {
    const { issueId } = await addFailure()
    const id = await ask([issueId])
    const payload = { status: 'approved', internal_message: 'Fine.' }
    const { status, body } = await api.request(`/exemption_requests/${id}`, {
      method: 'PUT',
      key,
      payload,
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'approved' })
  })

  it('refuses what contradicts the state: a withdrawn request, a withdrawal too late', async () => {
    const [one, other] = [await addFailure(), await addFailure()]
    const withdrawn = await ask([one.issueId])
    expect((await patch(withdrawn, { status: 'withdrawn' })).body.status).toBe('withdrawn')
    for (const decision of [approve, deny]) {
      expect((await decision(withdrawn)).status).toBe(409)
    }
    expect((await patch(withdrawn, { status: 'open' })).status).toBe(409)
    const approved = await ask([other.issueId])
    await approve(approved)
    const { status, body } = await patch<TestRefusal>(approved, { status: 'withdrawn' })
    expect(status).toBe(409)
    expect(body).toMatchObject({ code: 'conflict' })
  })

  it('refuses to approve where the check has come to allow none, and changes nothing', async () => {
    const { checkId, deviceId, issueId } = await addFailure()
    const id = await ask([issueId])
    await api.db
      .updateTable('posture_check')
      .set({ exemptions_disallowed: true })
      .where('id', '=', checkId)
      .execute()
    expect((await approve(id)).status).toBe(409)
    expect((await readDevice(deviceId)).auth_state).toBe('Blocked')
    expect((await deny(id)).status).toBe(200)
  })

  it.each([
    ['internal_message', { status: 'approved' }],
    ['internal_message', { status: 'denied', denial_explanation: 'No.' }],
    ['denial_explanation', { status: 'denied', internal_message: 'No.' }],
    ['status', { internal_message: 'Fine.' }],
    ['status', { status: 'exempted', internal_message: 'Fine.' }],
    ['expires_at', { status: 'open', expires_at: null }],
    [
      'expires_at',
      { status: 'approved', internal_message: 'x', expires_at: '2020-01-01T00:00:00Z' },
    ],
    [
      'internal_explanation',
      { status: 'approved', internal_message: 'x', internal_explanation: 'x' },
    ],
  ])('refuses a bad %s (case %#), and changes nothing', async (path, payload) => {
    const { deviceId, issueId } = await addFailure()
    const id = await ask([issueId])
    const { status, body } = await patch<TestRefusal>(id, payload)
    expect(status).toBe(422)
    expect(body.details?.map((detail) => detail.path)).toContain(path)
    expect((await readDevice(deviceId)).auth_state).toBe('Blocked')
    expect(await listAudit(id)).toHaveLength(1)
  })

  it.each(['999999', 'x'])('answers 404 for the request %s', async (id) => {
    expect((await approve(id)).status).toBe(404)
  })

  it('refuses without a key and without the permission, which it names', async () => {
    const { issueId } = await addFailure()
    const id = await ask([issueId])
    const send = (sent: string | null) =>
      api.request<TestRefusal>(`/exemption_requests/${id}`, {
        method: 'PATCH',
        key: sent,
        payload: { status: 'approved', internal_message: 'Fine.' },
      })
    expect((await send(null)).status).toBe(401)
    const { status, body } = await send(api.key)
    expect(status).toBe(403)
    expect(body.message).toContain('Manage User Requests')
  })
})

async function settleDue(): Promise<void> {
  await settleDueDevices({
    db: api.db,
    runChange: posture.runChange,
    logError: (error) => {
      throw error
    },
  })
}

describe('POST /exemption_requests/decisions', () => {
  interface Decisions {
    readonly decided_count: number
    readonly refused_count: number
    readonly data: readonly { id: string; decided: boolean; code: string | null }[]
  }
  const decide = <Body = Decisions>(payload: object, caller = key) =>
    api.request<Body>('/exemption_requests/decisions', { method: 'POST', key: caller, payload })
  const addRequest = async () => {
    const { deviceId } = await addFailure()
    const [issue] = await listIssues(deviceId)
    const { body } = await post({
      ...{ person_id: personId, issue_ids: [issue?.id], requester_message: 'Please.' },
    })
    return { id: body.id, deviceId }
  }

  it('decides each alone: what is refused keeps none of the others from being decided', async () => {
    const [first, withdrawn, last] = [await addRequest(), await addRequest(), await addRequest()]
    await patch(withdrawn.id, { status: 'withdrawn' })
    const ids = [Number(first.id), withdrawn.id, '999999', last.id, last.id]
    const approval = { status: 'approved', internal_message: 'It is known.' }
    const { status, body } = await decide({ ids, ...approval })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      decided_count: 2,
      refused_count: 2,
      data: [
        { id: first.id, decided: true, code: null, message: null },
        { id: withdrawn.id, decided: false, code: 'conflict' },
        { id: '999999', decided: false, code: 'not_found' },
        { id: last.id, decided: true },
      ],
    })
    for (const { id, deviceId } of [first, last]) {
      expect((await readDevice(deviceId)).auth_state).toBe('Good')
      expect((await listAudit(id)).at(-1)).toMatchObject({ action: 'exemption_request.approved' })
    }
    expect((await readDevice(withdrawn.deviceId)).auth_state).toBe('Blocked')
    expect((await decide({ ids, ...approval })).body).toEqual(body)
  })

  it('answers a repetition with an idempotency key as the first time', async () => {
    const { id } = await addRequest()
    const payload = { ids: [id], status: 'approved', internal_message: 'It is known.' }
    const headers = { 'idempotency-key': 'once-and-for-all' }
    const url = '/exemption_requests/decisions'
    const first = await api.request<Decisions>(url, { method: 'POST', key, payload, headers })
    await patch(id, { status: 'open' })
    const again = await api.request<Decisions>(url, { method: 'POST', key, payload, headers })
    expect([first.status, again.body]).toEqual([200, first.body])
    expect((await api.request<RequestBody>(`/exemption_requests/${id}`)).body.status).toBe('open')
  })

  it('refuses what a single decision would be refused for, more than a hundred, and none', async () => {
    const { id } = await addRequest()
    const refused = [
      { ids: [id], status: 'denied' },
      { ids: [id], status: 'approved' },
      { ids: [], status: 'open' },
      { ids: Array.from({ length: 101 }, (_, index) => index + 1), status: 'open' },
      { ids: [id], status: 'open', more: true },
    ]
    for (const payload of refused) {
      expect([payload, (await decide<TestRefusal>(payload)).status]).toEqual([payload, 422])
    }
    expect((await decide({ ids: [id], status: 'open' }, api.key)).status).toBe(403)
  })
})
