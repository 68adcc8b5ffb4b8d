import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createServiceApi, type ServiceApi } from '../../../../test/support/composed-api.ts'
import { createPosture, type Posture } from '../../../../test/support/posture-fixtures.ts'
import { SYSTEM_ACTOR } from '../../../changes/audit/audit-entry.ts'
import { findAttempt } from '../../attempts/attempt-store.ts'
import { viewOfAttempt } from '../../attempts/view-attempt.ts'
import { deviceProven } from '../../attempts/know-device.ts'
import { postureKnown } from '../../attempts/decide-posture.ts'
import { findOrCreatePerson } from '../../../people/people/find-or-create-person.ts'

let api: ServiceApi
let posture: Posture

beforeAll(async () => {
  api = await createServiceApi()
  posture = createPosture(api.db)
})

afterAll(async () => {
  await api.close()
})

const EMAIL = 'ada@example.com'

const send = (url: string, cookie: string, fields?: Record<string, string>) =>
  api.app.inject({
    method: fields === undefined ? 'GET' : 'POST',
    url,
    headers: {
      cookie,
      'sec-fetch-site': 'same-origin',
      ...(fields && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    ...(fields && { payload: new URLSearchParams(fields).toString() }),
  })

/** A sign-in to the own pages from a device with an issue, at the step where it is blocked. */
async function begin(
  found: Readonly<Record<string, string>> = { state: 'off' },
  check: Parameters<Posture['insertCheck']>[0] = {},
) {
  const { id: personId } = await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    findOrCreatePerson(change, { email: EMAIL, name: 'Ada' }),
  )
  const checkId = await posture.insertCheck({
    issue_title: 'The firewall is off',
    remediation_strategy: 'block_immediately',
    ...check,
  })
  const deviceId = await posture.insertDevice({
    owner_person_id: personId,
    registered_at: api.clock.now(),
    node_key_hash: randomBytes(32),
  })
  await posture.report(deviceId, { [checkId]: [{ KOLIDE_CHECK_STATUS: 'FAIL', ...found }] })
  const { headers } = await send('/sign-in/me/sign-in', '', { email: EMAIL })
  const path = String(headers.location)
  const cookie = String([headers['set-cookie']].flat()[0]).split(';')[0] ?? ''
  const id = path.split('/').at(-1) ?? ''
  return { path, cookie, id, deviceId }
}

it('a sign-in is shown to the browser that began it alone, and may open the ports of its proof', async () => {
  const { path, cookie } = await begin()
  const { statusCode, body, headers } = await send(path, cookie)
  expect(statusCode).toBe(200)
  expect(body).toContain('Recognising your device')
  expect(body).toMatch(/proof-[\w-]{12}\.js/)
  expect(headers['content-security-policy']).toMatch(/connect-src 'self' https:\/\/[\w.]+:\*;/)
  for (const other of ['', cookie.replace(/=.*/, '=stolen')]) {
    expect((await send(path, other)).statusCode).toBe(404)
  }
})

it('what follows a sign-in hears of its issues what the page shows: no secret that a device reported, in whatever column', async () => {
  const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'
  const { id, deviceId } = await begin({ line: `export TOKEN=${secret}`, keyboard: 'us' })
  await api.db
    .updateTable('sign_in_attempt')
    .set({ stage: 'blocked', device_id: deviceId, assurance: 'live' })
    .where('id', '=', id)
    .execute()
  const attempt = await findAttempt(api.db, id)
  if (attempt === undefined) throw new Error('the sign-in is gone')
  const { issues } = await viewOfAttempt({ db: api.db, clock: api.clock }, attempt)
  expect(issues.map(({ rows }) => rows)).toEqual([
    [{ line: 'export TOKEN=••••••', keyboard: 'us' }],
  ])
  expect(JSON.stringify(issues)).not.toContain(secret)
})

it('a blocked sign-in shows its issues, and an exemption is asked for in the name of the person', async () => {
  const { path, cookie, id, deviceId } = await begin()
  await api.db
    .updateTable('sign_in_attempt')
    .set({ stage: 'blocked', device_id: deviceId, assurance: 'live' })
    .where('id', '=', id)
    .execute()
  const { body } = await send(path, cookie)
  expect(body).toContain('You can sign in as soon as one thing is fixed.')
  expect(body).toContain('<dt>State</dt><dd>off</dd>')
  const [, issueId = ''] = /name="issue_id" value="(\d+)"/.exec(body) ?? []
  const fields = { issue_id: issueId, reason: 'I need it' }
  expect((await send(`${path}/exemption`, '', fields)).statusCode).toBe(404)
  expect((await send(`${path}/exemption`, cookie, { ...fields, issue_id: '999' })).statusCode).toBe(
    404,
  )
  expect((await send(`${path}/exemption`, cookie, fields)).headers.location).toBe(path)
  expect((await send(path, cookie)).body).toContain('An admin has not decided yet.')
})

it('whoever the device is registered to may put a warning off, and nobody else who signs in with it', async () => {
  const warning = { remediation_strategy: 'warn_then_block', grace_period_days: 10 } as const
  const { path, cookie, id, deviceId } = await begin({ state: 'off' }, warning)
  await api.db
    .updateTable('sign_in_attempt')
    .set({ stage: 'warned', device_id: deviceId, assurance: 'live' })
    .where('id', '=', id)
    .execute()
  const own = (await send(path, cookie)).body
  expect(own).toContain('Not now: remind me later')
  const [, issueId = ''] = /name="issue_id" value="(\d+)"/.exec(own) ?? []
  const fields = { issue_id: issueId, days: '3' }
  const { id: other } = await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    findOrCreatePerson(change, { email: 'eve@example.com', name: 'Eve' }),
  )
  const setOwner = async (personId: string) =>
    api.db
      .updateTable('device')
      .set({ owner_person_id: personId })
      .where('id', '=', deviceId)
      .execute()
  const { ownerId } = await api.db
    .selectFrom('device')
    .select('owner_person_id as ownerId')
    .where('id', '=', deviceId)
    .executeTakeFirstOrThrow()
  await setOwner(other)
  expect((await send(path, cookie)).body).not.toContain('Not now: remind me later')
  expect((await send(`${path}/snooze`, cookie, fields)).statusCode).toBe(409)
  await setOwner(ownerId ?? '')
  expect((await send(`${path}/snooze`, '', fields)).statusCode).toBe(404)
  expect((await send(`${path}/snooze`, cookie, fields)).headers.location).toBe(path)
  expect((await send(path, cookie)).body).toContain('You are reminded again on')
  const entry = await api.db
    .selectFrom('audit_entry')
    .select('actor_id')
    .where('action', '=', 'issue.snoozed')
    .where('target_id', '=', issueId)
    .executeTakeFirst()
  expect(entry).toEqual({ actor_id: ownerId })
})

it('whoever has a blocked device reaches the own pages, where it is fixed, and stays there', async () => {
  const { path, cookie, id, deviceId } = await begin()
  await api.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    await deviceProven(change, id, { deviceId, assurance: 'live', evidence: {} })
    await postureKnown(change, id, { isFresh: true })
  })
  expect((await send(path, cookie)).body).toContain('You go on to your devices.')
  const back = await send(`${path}/return`, cookie)
  const finished = await send(String(back.headers.location), cookie)
  expect(finished.headers.location).toBe('/sign-in/me')
  const own = String([finished.headers['set-cookie']].flat()[0]).split(';')[0] ?? ''
  expect((await send('/sign-in/me', own)).body).toContain('cannot be used to sign in.')
  // The way back is taken once.
  const again = await send(String(back.headers.location), cookie)
  expect(again.headers['set-cookie']).toBeUndefined()
})

it('nobody says at the page who signs in: what the application wants for it would be passed by', async () => {
  const { path, cookie, id } = await begin()
  const fields = { email: EMAIL }
  await api.db
    .updateTable('sign_in_attempt')
    .set({ stage: 'person', person_id: null })
    .where('id', '=', id)
    .execute()
  const page = await send(path, cookie)
  expect(page.statusCode).toBe(200)
  expect(page.body).not.toContain('name="email"')
  expect((await send(`${path}/person`, cookie, fields)).statusCode).toBe(404)
  expect(await findAttempt(api.db, id)).toMatchObject({ stage: 'person', personId: null })
  const hostile = await send('/sign-in/me/sign-in', '', { email: 'a\0@example.com' })
  expect(hostile.statusCode).toBe(422)
})
