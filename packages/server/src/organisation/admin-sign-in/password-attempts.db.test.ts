import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AuthenticatorApp } from '../../../test/support/authenticator-app.ts'
import { createServiceApi, type ServiceApi } from '../../../test/support/composed-api.ts'
import {
  createConsoleSession,
  OWN_PAGE,
  type TestSession,
} from '../../../test/support/console-session.ts'
import {
  attemptOf,
  createPasswordClient,
  headersOf,
  OTHER_PASSWORD,
  OWN_PASSWORD_PATH,
  PASSWORD_PATH,
  STEP_UP_CODE_PATH,
  tokenOf,
} from '../../../test/support/password-owner.ts'
import { createRateLimitStore } from '../../platform/rate-limits/rate-limit-store.ts'
import { admitPassword } from './password-input.ts'
import { hasWayToSignIn, WRONG_CODES_MAX } from './sign-in-way-read.ts'

let api: ServiceApi
let client: ReturnType<typeof createPasswordClient>
beforeAll(async () => {
  api = await createServiceApi()
  client = createPasswordClient(api)
})
beforeEach(() => client.forgetAttempts())
afterAll(() => api.close())

const expireStepUp = (id: string) =>
  sql`update admin_session set stepped_up_at = now() - interval '5 minutes' where id = ${id}`.execute(
    api.db,
  )

describe('a step-up by a code', () => {
  const stepUp = (session: Pick<TestSession, 'headers'>, code: string) =>
    client.send('POST', STEP_UP_CODE_PATH, session.headers, { code })

  it('changes the token and takes a code once, also one that signed in', async () => {
    const owner = await client.newOwner()
    await expireStepUp(owner.session.id)
    const options = await client.send<{ passkey: null; code: boolean }>(
      'POST',
      '/console/session/step_up_options',
      owner.session.headers,
    )
    expect(options.body).toEqual({ passkey: null, code: true })
    const code = owner.app.code()
    const { status, headers, body } = await stepUp(owner.session, code)
    expect([status, body.stepped_up_until === null]).toEqual([200, false])
    const token = tokenOf(headers)
    expect(token).not.toBe(owner.session.token)
    const again = await stepUp({ headers: headersOf(token) }, code)
    expect([again.status, again.body.code]).toEqual([401, 'sign_in_failed'])
    expect((await client.signIn(attemptOf(owner, { code }))).status).toBe(401)
    api.clock.advance(30_000)
    const next = owner.app.code()
    expect((await client.signIn(attemptOf(owner, { code: next }))).status).toBe(200)
    expect((await stepUp({ headers: headersOf(token) }, next)).status).toBe(401)
  })

  it('takes one of two that come at once', async () => {
    const owner = await client.newOwner()
    const other = await createConsoleSession(api.db, { adminId: owner.session.adminId })
    const code = owner.app.code()
    const both = await Promise.all([stepUp(owner.session, code), stepUp(other, code)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  it('takes no code of another admin, and none without an app', async () => {
    const [mine, theirs] = [await client.newOwner(), await client.newOwner()]
    expect((await stepUp(mine.session, theirs.app.code())).status).toBe(401)
    const without = await createConsoleSession(api.db)
    const { status, headers } = await stepUp(without, mine.app.code())
    expect([status, headers['set-cookie']]).toEqual([401, undefined])
    expect(await client.auditOf('admin_sign_in.refused', without.adminId)).toHaveLength(1)
  })

  it('does not end the set-up after a one-time link', async () => {
    const owner = await client.newOwner()
    const { adminId } = owner.session
    const pending = await createConsoleSession(api.db, { adminId, isSetupPending: true })
    const { status, body } = await stepUp(pending, owner.app.code())
    expect([status, body.code]).toEqual([403, 'sign_in_setup_required'])
    expect((await client.send('GET', '/devices', pending.headers)).status).toBe(403)
  })

  it('is tried so often by a session, and then waits', async () => {
    const owner = await client.newOwner()
    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect((await stepUp(owner.session, owner.app.wrongCode())).status).toBe(401)
    }
    const refused = await stepUp(owner.session, owner.app.code())
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
  })
})

describe('whoever tries passwords', () => {
  const admit = (attempt: { readonly email: string; readonly address: string }) =>
    admitPassword(createRateLimitStore(api.db, api.clock), attempt)
  const from = async (remoteAddress: string, payload: object, url = PASSWORD_PATH) =>
    (await api.app.inject({ method: 'POST', url, headers: OWN_PAGE, payload, remoteAddress }))
      .statusCode

  it('from one address waits for an account, known or not, and its owner comes in from another', async () => {
    const owner = await client.newOwner()
    const wrong = attemptOf(owner, { password: OTHER_PASSWORD })
    for (const attempt of [wrong, { ...wrong, email: 'nobody@example.com' }]) {
      const answers = []
      for (let count = 0; count < 11; count += 1) answers.push(await from('192.0.2.1', attempt))
      expect(answers).toEqual([...Array.from({ length: 10 }, () => 401), 429])
    }
    expect(await from('192.0.2.1', attemptOf(owner))).toBe(429)
    expect(await from('192.0.2.2', attemptOf(owner))).toBe(200)
  })

  it('from one address waits for all accounts, and keeps nobody there from a passkey', async () => {
    for (let count = 0; count < 30; count += 1) {
      await admit({ email: `nobody-${count}@example.com`, address: '2001:db8::1' })
    }
    const other = { email: 'else@example.com', address: '2001:db8::2' }
    await expect(admit(other)).rejects.toMatchObject({ code: 'rate_limited' })
    const attempt = { email: 'else@example.com', password: 'x', code: 'x' }
    expect(await from('2001:db8::1', attempt)).toBe(429)
    expect(await from('2001:db8::1', {}, '/console/session/passkey_options')).toBe(200)
  })

  it('from many addresses waits for the account', async () => {
    for (let count = 0; count < 50; count += 1) {
      await admit({ email: 'nobody@example.com', address: `192.0.2.${count}` })
    }
    const again = { email: ' NOBODY@example.com ', address: '198.51.100.1' }
    await expect(admit(again)).rejects.toMatchObject({ code: 'rate_limited' })
    await admit({ ...again, email: 'else@example.com' })
  })

  it('in a session, for its own, waits as well', async () => {
    const { headers } = await createConsoleSession(api.db)
    const answers = []
    for (let count = 0; count < 21; count += 1) {
      const { status } = await client.send('PATCH', OWN_PASSWORD_PATH, headers, { password: 'x' })
      answers.push(status)
    }
    expect([answers[0], answers[19], answers[20]]).toEqual([422, 422, 429])
  })

  it('and knows one, closes it by guessing codes, until it is set up anew', async () => {
    const owner = await client.newOwner()
    const { adminId } = owner.session
    await sql`update admin_password set wrong_code_count = ${WRONG_CODES_MAX - 1}
      where admin_id = ${adminId}`.execute(api.db)
    const wrongPassword = attemptOf(owner, { password: OTHER_PASSWORD })
    expect((await client.signIn(wrongPassword)).status).toBe(401)
    expect(await hasWayToSignIn(api.db, adminId)).toBe(true)
    expect((await client.signIn(attemptOf(owner, { code: owner.app.wrongCode() }))).status).toBe(
      401,
    )
    expect(await hasWayToSignIn(api.db, adminId)).toBe(false)
    expect(await client.auditOf('admin_password.closed', adminId)).toHaveLength(1)
    const right = await client.signIn(attemptOf(owner))
    expect([right.status, right.body.code]).toEqual([401, 'sign_in_failed'])
    const { body } = await client.send<{ password: { is_closed: boolean } }>(
      'GET',
      OWN_PASSWORD_PATH,
      owner.session.headers,
    )
    expect(body.password.is_closed).toBe(true)
    const { key, proof } = await client.offer(owner.session)
    const app = new AuthenticatorApp(key, api.clock)
    const anew = { password: OTHER_PASSWORD, key, proof, code: app.code() }
    expect((await client.setUp(owner.session, anew)).status).toBe(200)
    api.clock.advance(30_000)
    const attempt = { email: owner.email, password: OTHER_PASSWORD, code: app.code() }
    expect((await client.signIn(attempt)).status).toBe(200)
  })

  it('begins to count anew with a code that was taken', async () => {
    const owner = await client.newOwner()
    await sql`update admin_password set wrong_code_count = ${WRONG_CODES_MAX - 1}`.execute(api.db)
    expect((await client.signIn(attemptOf(owner))).status).toBe(200)
    expect((await client.storedOf(owner.session.adminId)).wrong_code_count).toBe(0)
  })
})
