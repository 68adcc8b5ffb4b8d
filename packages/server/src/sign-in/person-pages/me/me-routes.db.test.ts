import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServiceApi, type ServiceApi } from '../../../../test/support/composed-api.ts'
import { createPosture, type Posture } from '../../../../test/support/posture-fixtures.ts'
import {
  addSignedInPerson,
  openPersonPages,
  type SignedInPerson,
} from '../../../../test/support/signed-in-person.ts'
import { HOUR_MS } from '../../../platform/clock.ts'

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

const addSomebody = async () => addSignedInPerson(api, posture)

describe('the pages of a person', () => {
  it('show the own devices and issues, and none of anybody else', async () => {
    const [one, other] = [await addSomebody(), await addSomebody()]
    const { body } = await get('/sign-in/me', one.cookie)
    expect(body).toContain(`href="/sign-in/me/devices/${one.deviceId}"`)
    expect(body).not.toContain(`/devices/${other.deviceId}"`)
    const device = await get(`/sign-in/me/devices/${one.deviceId}`, one.cookie)
    expect(device.body).toContain('Trouble')
    expect(device.body).not.toContain('topsecret')
    expect((await get(`/sign-in/me/devices/${other.deviceId}`, one.cookie)).statusCode).toBe(404)
  })

  it.each(['/sign-in/me', '/sign-in/privacy/my-data', '/sign-in/me/devices/1'])(
    '%s asks for a sign-in first',
    async (path) => {
      const { statusCode, body } = await get(path, '__Host-heliograph-person=nothing')
      expect(statusCode).toBe(401)
      expect(body).toContain(`name="path" value="${path}"`)
    },
  )

  it('open to nobody after the session has ended, by time, by the person or by an admin', async () => {
    const { cookie, sessionId } = await addSomebody()
    await post('/sign-in/me/sign-out', cookie, {})
    expect((await get('/sign-in/me', cookie)).statusCode).toBe(401)
    const session = await api.db
      .selectFrom('sign_in_granted_session')
      .select('end_reason')
      .where('id', '=', sessionId)
      .executeTakeFirst()
    expect(session).toEqual({ end_reason: 'logout' })
    const second = await addSomebody()
    await api.db
      .updateTable('sign_in_granted_session')
      .set({ expires_at: api.clock.now() })
      .where('id', '=', second.sessionId)
      .execute()
    expect((await get('/sign-in/me', second.cookie)).statusCode).toBe(401)
  })

  it('tell an open page nothing more once the session has ended', async () => {
    const { cookie, deviceId } = await addSomebody()
    const answer = await api.app.inject({
      url: `/sign-in/me/devices/${deviceId}/events`,
      headers: { cookie },
      payloadAsStream: true,
    })
    const events = answer.stream()[Symbol.asyncIterator]()
    expect(String((await events.next()).value)).toMatch(/^retry/)
    await post('/sign-in/me/sign-out', cookie, {})
    while ((await events.next()).done !== true);
  })

  it('ask a device again and ask for an exemption, in the name of the person', async () => {
    const { cookie, deviceId, issueId, personId } = await addSomebody()
    const path = `/sign-in/me/devices/${deviceId}`
    expect((await post(`${path}/recheck`, cookie, { issue_id: issueId })).headers.location).toBe(
      path,
    )
    expect((await get(path, cookie)).body).toContain('Your device is being asked.')
    const reason = 'I need <it>'
    await post(`${path}/exemption`, cookie, { issue_id: issueId, reason })
    const request = await api.db
      .selectFrom('exemption_request')
      .select(['requester_person_id', 'requester_message', 'status'])
      .where('device_id', '=', deviceId)
      .executeTakeFirst()
    expect(request).toEqual({
      requester_person_id: personId,
      requester_message: reason,
      status: 'open',
    })
    expect((await get(path, cookie)).body).toContain('An admin has not decided yet.')
    const entry = await api.db
      .selectFrom('audit_entry')
      .select(['actor_type', 'actor_id'])
      .where('action', '=', 'exemption_request.created')
      .where('actor_id', '=', personId)
      .executeTakeFirst()
    expect(entry).toEqual({ actor_type: 'Person', actor_id: personId })
  })

  it('say in German what a built-in check says, and what an admin wrote as it is', async () => {
    const { cookie, deviceId } = await addSomebody()
    const { id, title } = await api.db
      .selectFrom('posture_check')
      .select(['id', 'issue_title as title'])
      .where('slug', '=', 'gatekeeper')
      .executeTakeFirstOrThrow()
    await posture.report(deviceId, {
      [id]: [{ KOLIDE_CHECK_STATUS: 'FAIL', assessments_enabled: '0' }],
    })
    const pageIn = async (language: string) =>
      (await get(`/sign-in/me/devices/${deviceId}?language=${language}`, cookie)).body
    expect(await pageIn('en')).toContain(title)
    const german = await pageIn('de')
    expect(german).toContain('Gatekeeper ist aus')
    expect(german).toContain('macOS startet Apps, ohne zu prüfen, woher sie kommen.')
    expect(german).toContain('Gatekeeper hält Apps auf')
    expect(german).toContain('Öffnen Sie <strong>Terminal</strong>')
    expect(german).not.toContain(title)
    await api.db
      .updateTable('posture_check')
      .set({ custom_fix_instructions_template: 'Call 4711.' })
      .where('id', '=', id)
      .execute()
    const custom = await pageIn('de')
    expect(custom).toContain('Call 4711.')
    expect(custom).not.toContain('Öffnen Sie <strong>Terminal</strong>')
  })

  it('do nothing for issues and devices of others, for other sites, and without a reason', async () => {
    const [one, other] = [await addSomebody(), await addSomebody()]
    const own = `/sign-in/me/devices/${one.deviceId}`
    const foreign = `/sign-in/me/devices/${other.deviceId}`
    const reason = 'Because'
    const tries = [
      await post(`${own}/recheck`, one.cookie, { issue_id: other.issueId }),
      await post(`${foreign}/recheck`, one.cookie, { issue_id: other.issueId }),
      await post(`${foreign}/exemption`, one.cookie, { issue_id: other.issueId, reason }),
      await post(`${own}/recheck`, one.cookie, { issue_id: one.issueId }, 'cross-site'),
      await post(`${own}/exemption`, one.cookie, { issue_id: one.issueId, reason: ' ' }),
    ]
    expect(tries.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404, 403, 422])
    const asked = await api.db
      .selectFrom('check_refresh')
      .select('device_id')
      .where('device_id', 'in', [one.deviceId, other.deviceId])
      .execute()
    expect(asked).toEqual([])
  })
})

describe('my data', () => {
  it('is the last answers of the own devices, with who sees them by name', async () => {
    const [one, other] = [await addSomebody(), await addSomebody()]
    const download = await get('/sign-in/privacy/my-data/download', one.cookie)
    expect(download.headers['content-disposition']).toBe('attachment; filename="my-data.json"')
    const data = download.json<{
      answers: { device: { id: string }; rows: object[] }[]
      seen_by: { kind: string; name: string; detail: string | null }[]
    }>()
    const failing = data.answers.filter(({ rows }) => rows.length > 0)
    expect(failing).toHaveLength(1)
    expect(failing[0]?.device.id).toBe(one.deviceId)
    expect(JSON.stringify(data)).not.toContain('topsecret')
    // Of the other person, who came last, nothing.
    expect(other.deviceId).not.toBe(one.deviceId)
    expect(JSON.stringify(data.answers)).not.toContain(`own-${other.number}`)
    // The key of this test, with the admin who is responsible for it.
    const keys = data.seen_by.filter(({ kind }) => kind === 'api_key')
    expect(keys.length).toBeGreaterThan(0)
    for (const { detail } of keys) expect(detail).toMatch(/\w+ \w+/)
  })

  it('names the questions that admins asked beside the checks, word for word', async () => {
    const { cookie, deviceId } = await addSomebody()
    const campaign = await api.db
      .insertInto('live_query_campaign')
      .values({
        name: 'Look around',
        sql: 'SELECT * FROM processes',
        tables_used: ['processes'],
        published: true,
        asked_at: api.clock.now(),
        created_at: api.clock.now(),
        updated_at: api.clock.now(),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await api.db
      .insertInto('live_query_target')
      .values({
        campaign_id: campaign.id,
        device_id: deviceId,
        revision: 1,
        state: 'successful',
      })
      .execute()
    await api.db
      .insertInto('live_query_result')
      .values({
        campaign_id: campaign.id,
        device_id: deviceId,
        revision: 1,
        rows: '[]',
        row_count: 0,
        error_message: null,
        warning_message: null,
        answered_at: api.clock.now(),
      })
      .execute()
    const { body } = await get('/sign-in/privacy/my-data', cookie)
    expect(body).toContain('<code>SELECT * FROM processes</code>')
  })
})

describe('signing in to the pages', () => {
  it('begins an attempt of a known person, held by this browser', async () => {
    const { personId } = await addSomebody()
    const { email } = await api.db
      .selectFrom('person')
      .select('email')
      .where('id', '=', personId)
      .executeTakeFirstOrThrow()
    const { statusCode, headers } = await post('/sign-in/me/sign-in', '', { email })
    expect(statusCode).toBe(303)
    const [, id = ''] = /^\/sign-in\/attempts\/([\w-]+)$/.exec(String(headers.location)) ?? []
    const attempt = await api.db
      .selectFrom('sign_in_attempt')
      .select(['stage', 'person_id', 'application_id'])
      .where('id', '=', id)
      .executeTakeFirst()
    expect(attempt).toEqual({ stage: 'device', person_id: personId, application_id: null })
    expect([headers['set-cookie']].flat()[0]).toMatch(
      /^__Host-heliograph-attempt-.*HttpOnly; Secure/,
    )
  })

  it('leads back to no other site', async () => {
    const hostile = ['https://evil.example', '//evil.example', '/sign-in/me/../../console', '']
    for (const path of hostile) {
      const { headers } = await post('/sign-in/me/sign-in', '', {
        email: 'nobody@example.com',
        path,
      })
      const id = String(headers.location).split('/').at(-1) ?? ''
      const attempt = await api.db
        .selectFrom('sign_in_attempt')
        .select('interaction')
        .where('id', '=', id)
        .executeTakeFirst()
      expect(attempt?.interaction).toEqual({ kind: 'person_pages', path: '/sign-in/me' })
    }
  })
})

describe('a confirmation', () => {
  async function addConfirmation(
    { personId }: SignedInPerson,
    way: 'registered_device' | 'admin_approval' = 'registered_device',
  ): Promise<string> {
    const deviceId = await posture.insertDevice({
      name: `new-${personId}`,
      node_key_hash: randomBytes(32),
    })
    const now = api.clock.now()
    const expiresAt = new Date(now.getTime() + HOUR_MS)
    const attemptId = randomUUID()
    await api.db
      .insertInto('sign_in_attempt')
      .values({
        id: attemptId,
        secret_hash: randomBytes(32),
        auth_log_session_id: null,
        application_id: null,
        interaction: JSON.stringify({ kind: 'person_pages', path: '/sign-in/me' }),
        stage: 'registration',
        login_hint: null,
        person_id: personId,
        device_id: deviceId,
        assurance: 'live',
        refusal_code: null,
        language: 'en',
        ip_address: '192.0.2.7',
        user_agent: null,
        started_at: now,
        expires_at: expiresAt,
        ended_at: null,
        returned_at: null,
        txn: null,
      })
      .execute()
    const id = randomUUID()
    await api.db
      .insertInto('device_confirmation')
      .values({
        id,
        attempt_id: attemptId,
        kind: 'registration',
        ways: [way],
        person_id: personId,
        device_id: deviceId,
        code: '042137',
        requested_at: now,
        expires_at: expiresAt,
        decided_at: null,
        decided_by: null,
      })
      .execute()
    return id
  }

  const statusOf = async (id: string) =>
    (
      await api.db
        .selectFrom('device_confirmation')
        .select('status')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
    ).status

  it('waits on the own pages, and is given with the code of the other page alone', async () => {
    const [one, other] = [await addSomebody(), await addSomebody()]
    const id = await addConfirmation(one)
    const { body } = await get('/sign-in/me', one.cookie)
    expect(body).toContain(`value="${id}"`)
    expect(body).toContain('192.0.2.7')
    expect(body).not.toContain('042137')
    expect((await get('/sign-in/me', other.cookie)).body).not.toContain(id)
    const confirm = (cookie: string, code: string) =>
      post('/sign-in/me/confirm', cookie, { confirmation_id: id, decision: 'yes', code })
    expect((await confirm(other.cookie, '042137')).statusCode).toBe(404)
    const wrong = await confirm(one.cookie, '000000')
    expect(wrong.headers.location).toBe('/sign-in/me?wrong_code=yes')
    expect(await statusOf(id)).toBe('pending')
    await confirm(one.cookie, '042137')
    expect(await statusOf(id)).toBe('approved')
  })

  it('is not hidden by what waits for admins, nor by many that were asked for before', async () => {
    const one = await addSomebody()
    for (let count = 0; count < 21; count += 1) await addConfirmation(one, 'admin_approval')
    const first = await addConfirmation(one)
    expect((await get('/sign-in/me', one.cookie)).body).toContain(`value="${first}"`)
    for (let count = 0; count < 20; count += 1) {
      api.clock.advance(1)
      await addConfirmation(one)
    }
    api.clock.advance(1)
    const last = await addConfirmation(one)
    const { body } = await get('/sign-in/me', one.cookie)
    expect(body.indexOf('name="confirmation_id"')).toBe(
      body.indexOf(`name="confirmation_id" value="${last}"`),
    )
    expect(body).not.toContain(first)
    expect(body).toContain('2 earlier ones wait too.')
  })

  it.each(['key', 'approved', 'none'] as const)(
    'is neither shown to nor given by a browser whose device is known as %s alone',
    async (assurance) => {
      const one = await addSomebody()
      const id = await addConfirmation(one)
      const know = async (how: 'hardware' | typeof assurance) =>
        api.db
          .updateTable('sign_in_granted_session')
          .set({ assurance: how })
          .where('id', '=', one.sessionId)
          .execute()
      const fields = { confirmation_id: id, decision: 'yes', code: '042137' }
      await know(assurance)
      expect((await get('/sign-in/me', one.cookie)).body).not.toContain(id)
      expect((await post('/sign-in/me/confirm', one.cookie, fields)).statusCode).toBe(409)
      expect(await statusOf(id)).toBe('pending')
      await know('hardware')
      expect((await get('/sign-in/me', one.cookie)).body).toContain(id)
      await post('/sign-in/me/confirm', one.cookie, fields)
      expect(await statusOf(id)).toBe('approved')
    },
  )

  it('can be denied without the code', async () => {
    const one = await addSomebody()
    const id = await addConfirmation(one)
    await post('/sign-in/me/confirm', one.cookie, { confirmation_id: id, decision: 'no' })
    expect(await statusOf(id)).toBe('denied')
  })
})
