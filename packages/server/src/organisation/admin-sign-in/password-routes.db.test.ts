import { randomBytes } from 'node:crypto'
import { hash as hashWith } from '@node-rs/argon2'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AuthenticatorApp } from '../../../test/support/authenticator-app.ts'
import { BASE_URL } from '../../../test/support/api-app.ts'
import { createServiceApi, type ServiceApi } from '../../../test/support/composed-api.ts'
import { createConsoleSession, OWN_PAGE } from '../../../test/support/console-session.ts'
import {
  attemptOf,
  createPasswordClient,
  headersOf,
  OTHER_PASSWORD,
  OWN_PASSWORD_PATH,
  PASSWORD,
  STEP_UP_CODE_PATH,
  tokenOf,
  type PasswordAttempt,
} from '../../../test/support/password-owner.ts'
import { PREPARED_MASTER_KEY } from '../../../test/support/prepared-database.ts'
import { SoftwareAuthenticator } from '../../../test/support/software-authenticator.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { parseMasterKeys } from '../../platform/secrets/master-key.ts'
import { readAppKey } from '../../platform/secrets/one-time-code.ts'
import { resealSecrets } from '../../platform/secrets/reseal-secrets.ts'
import { createSealer } from '../../platform/secrets/sealed-box.ts'
import { SEALED_COLUMNS } from '../../schema/sealed-columns.ts'
import { removeAdmin } from '../admins/change-admin.ts'
import { findAdminById } from '../admins/find-admin.ts'
import { codeSecretContext } from './passwords.ts'
import { issueLink } from './sign-in-link.ts'
import { canSomebodySignIn, hasWayToSignIn } from './sign-in-way-read.ts'

const ORIGIN = { actor: SYSTEM_ACTOR }

let api: ServiceApi
let client: ReturnType<typeof createPasswordClient>
beforeAll(async () => {
  api = await createServiceApi()
  client = createPasswordClient(api)
})
beforeEach(() => client.forgetAttempts())
afterAll(() => api.close())

describe('setting a password up', () => {
  it('ends the set-up after a link, and signs in from then on with a session of its own', async () => {
    const { adminId } = await createConsoleSession(api.db)
    const admin = await findAdminById(api.db, adminId)
    if (admin === undefined) throw new Error('no admin')
    const { token } = await api.runChange(ORIGIN, (change) => issueLink(change, admin, 'recovery'))
    const linked = await client.send('POST', '/console/session/link', OWN_PAGE, { token })
    const first = { headers: headersOf(tokenOf(linked.headers)) }
    expect((await client.send('GET', '/devices', first.headers)).status).toBe(403)
    const { key, proof, uri } = await client.offer(first)
    expect(uri).toContain(`secret=${key}`)
    expect(decodeURIComponent(uri)).toContain(admin.email)
    const app = new AuthenticatorApp(key, api.clock)
    const added = await client.setUp(first, { password: PASSWORD, key, proof, code: app.code() })
    expect([added.status, added.body.setup_required]).toEqual([200, false])
    const second = headersOf(tokenOf(added.headers))
    expect((await client.send('GET', '/devices', second)).status).toBe(200)
    api.clock.advance(30_000)
    const again = await client.signIn(attemptOf({ email: admin.email, app }), second)
    expect([again.status, again.body.method, again.body.admin.id]).toEqual([
      200,
      'password',
      adminId,
    ])
    expect(again.body.stepped_up_until).not.toBeNull()
    const tokens = [linked, added, again].map(({ headers }) => tokenOf(headers))
    expect(new Set(tokens).size).toBe(3)
    // The session that the browser had until then is over.
    expect(await client.isOpen({ headers: second })).toBe(false)
  })

  it('asks for a step-up', async () => {
    const session = await createConsoleSession(api.db, { isSteppedUp: false })
    const body = { password: PASSWORD, key: 'A'.repeat(32), proof: 'x', code: '123456' }
    const refused = [
      await client.send('POST', `${OWN_PASSWORD_PATH}/options`, session.headers),
      await client.setUp(session, body),
      await client.send('PATCH', OWN_PASSWORD_PATH, session.headers, { password: PASSWORD }),
      await client.send('DELETE', OWN_PASSWORD_PATH, session.headers),
    ]
    for (const { status, body } of refused) {
      expect([status, body.code]).toEqual([403, 'step_up_required'])
    }
  })

  it('counts only with a code of the app, and says which input is wrong', async () => {
    const session = await createConsoleSession(api.db)
    const { key, proof } = await client.offer(session)
    const app = new AuthenticatorApp(key, api.clock)
    const good = { password: PASSWORD, key, proof, code: app.code() }
    const faultOf = async (changes: object) => {
      const { status, body } = await client.setUp(session, { ...good, ...changes })
      return [status, body.details?.map(({ path }) => path).join()]
    }
    expect(await faultOf({ code: app.wrongCode() })).toEqual([422, 'code'])
    expect(await faultOf({ code: app.code(-2) })).toEqual([422, 'code'])
    expect(await faultOf({ code: '' })).toEqual([422, 'code'])
    expect(await faultOf({ password: 'short' })).toEqual([422, 'password'])
    expect(await faultOf({ password: 'password1234' })).toEqual([422, 'password'])
    expect(await faultOf({ key: 'A'.repeat(32) })).toEqual([422, 'proof'])
    expect(await faultOf({ key: 'not base32' })).toEqual([422, 'proof'])
    expect(await faultOf({ proof: 'AAAA' })).toEqual([422, 'proof'])
    expect(await hasWayToSignIn(api.db, session.adminId)).toBe(false)
    expect((await client.setUp(session, good)).status).toBe(200)
    expect(await hasWayToSignIn(api.db, session.adminId)).toBe(true)
  })

  it('takes an offer once, for its session, and for half an hour', async () => {
    const session = await createConsoleSession(api.db)
    const other = await createConsoleSession(api.db, { adminId: session.adminId })
    const { key, proof } = await client.offer(session)
    const app = new AuthenticatorApp(key, api.clock)
    const body = () => ({ password: PASSWORD, key, proof, code: app.code() })
    expect((await client.setUp(other, body())).body.details?.[0]?.path).toBe('proof')
    api.clock.advance(30 * 60_000)
    expect((await client.setUp(session, body())).body.details?.[0]?.path).toBe('proof')
    api.clock.advance(-60_000)
    const { headers } = await client.setUp(session, body())
    const own = { headers: headersOf(tokenOf(headers)) }
    // The same bytes, written in another way.
    for (const written of [proof, `${proof}==`, ` ${proof}`]) {
      const again = await client.setUp(own, { ...body(), proof: written })
      expect([again.status, again.body.details?.[0]?.path]).toEqual([422, 'proof'])
    }
  })

  it('takes one of two set-ups with the same offer that come at once', async () => {
    const session = await createConsoleSession(api.db)
    const { key, proof } = await client.offer(session)
    const code = new AuthenticatorApp(key, api.clock).code()
    const body = { password: PASSWORD, key, proof, code }
    const both = await Promise.all([client.setUp(session, body), client.setUp(session, body)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 422])
  })

  it('stores the password as a hash and the secret of the app sealed, and tells the audit log neither', async () => {
    const { session, key } = await client.newOwner()
    const stored = await client.storedOf(session.adminId)
    expect(stored.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=3,p=1\$/)
    const secret = await readAppKey(key)
    expect(stored.totp_secret_sealed.includes(secret ?? '')).toBe(false)
    const context = codeSecretContext(session.adminId)
    expect(api.sealer.open(stored.totp_secret_sealed, context)).toEqual(secret)
    const { rows } = await sql<{ entry: string }>`
      select to_jsonb(audit_entry)::text as entry from audit_entry`.execute(api.db)
    const log = rows.map(({ entry }) => entry).join()
    for (const hidden of [PASSWORD, key, stored.password_hash]) expect(log).not.toContain(hidden)
    expect(await client.auditOf('admin_password.created', session.adminId)).toHaveLength(1)
  })

  it('anew ends the other sessions, and what was set up before', async () => {
    const owner = await client.newOwner()
    const other = await createConsoleSession(api.db, { adminId: owner.session.adminId })
    const { key, proof } = await client.offer(owner.session)
    const app = new AuthenticatorApp(key, api.clock)
    const { status, headers } = await client.setUp(owner.session, {
      ...{ password: OTHER_PASSWORD, key, proof, code: app.code() },
    })
    expect(status).toBe(200)
    expect(await client.isOpen(other)).toBe(false)
    expect(await client.isOpen({ headers: headersOf(tokenOf(headers)) })).toBe(true)
    api.clock.advance(30_000)
    const attempt = { email: owner.email, password: OTHER_PASSWORD }
    expect((await client.signIn(attemptOf(owner))).status).toBe(401)
    expect((await client.signIn({ ...attempt, code: owner.app.code() })).status).toBe(401)
    expect((await client.signIn({ ...attempt, code: app.code() })).status).toBe(200)
    expect(await client.auditOf('admin_password.replaced', owner.session.adminId)).toHaveLength(1)
  })
})

describe('the own password', () => {
  it('is shown without its secrets', async () => {
    const session = await createConsoleSession(api.db)
    expect((await client.send<object>('GET', OWN_PASSWORD_PATH, session.headers)).body).toEqual({
      password: null,
    })
    const owner = await client.newOwner()
    const { body } = await client.send<{ password: object }>(
      'GET',
      OWN_PASSWORD_PATH,
      owner.session.headers,
    )
    expect(body.password).toMatchObject({ last_used_at: null, is_closed: false })
    expect(Object.keys(body.password)).toEqual([
      ...['created_at', 'changed_at', 'last_used_at', 'is_closed'],
    ])
  })

  it('is changed, keeps its app, and ends the other sessions', async () => {
    const owner = await client.newOwner()
    const other = await createConsoleSession(api.db, { adminId: owner.session.adminId })
    const weak = await client.send('PATCH', OWN_PASSWORD_PATH, owner.session.headers, {
      password: 'qwertyuiop123',
    })
    expect([weak.status, weak.body.details?.[0]?.path]).toEqual([422, 'password'])
    const { status, headers } = await client.send(
      'PATCH',
      OWN_PASSWORD_PATH,
      owner.session.headers,
      {
        password: OTHER_PASSWORD,
      },
    )
    expect(status).toBe(200)
    expect(await client.isOpen(other)).toBe(false)
    expect(await client.isOpen({ headers: headersOf(tokenOf(headers)) })).toBe(true)
    expect((await client.signIn(attemptOf(owner))).status).toBe(401)
    expect((await client.signIn(attemptOf(owner, { password: OTHER_PASSWORD }))).status).toBe(200)
    expect(await client.auditOf('admin_password.changed', owner.session.adminId)).toHaveLength(1)
    const without = await createConsoleSession(api.db)
    const body = { password: OTHER_PASSWORD }
    expect((await client.send('PATCH', OWN_PASSWORD_PATH, without.headers, body)).status).toBe(404)
  })

  it('is removed unless it is the last way to sign in', async () => {
    const owner = await client.newOwner()
    expect((await client.send('DELETE', OWN_PASSWORD_PATH, owner.session.headers)).status).toBe(409)
    await addPasskey(owner.session.adminId)
    const other = await createConsoleSession(api.db, { adminId: owner.session.adminId })
    expect((await client.send('DELETE', OWN_PASSWORD_PATH, owner.session.headers)).status).toBe(204)
    expect(await client.isOpen(other)).toBe(false)
    expect(await client.isOpen(owner.session)).toBe(true)
    expect((await client.signIn(attemptOf(owner))).status).toBe(401)
    expect((await client.send('DELETE', OWN_PASSWORD_PATH, owner.session.headers)).status).toBe(404)
    expect(await client.auditOf('admin_password.deleted', owner.session.adminId)).toHaveLength(1)
  })

  it('and the last passkey are not both removed when that is asked for at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const owner = await client.newOwner()
      const { adminId } = owner.session
      const passkey = await addPasskey(adminId)
      const other = await createConsoleSession(api.db, { adminId })
      const [first, second] = await Promise.all([
        client.send('DELETE', OWN_PASSWORD_PATH, owner.session.headers),
        client.send('DELETE', `/console/session/passkeys/${passkey}`, other.headers),
      ])
      expect([first.status, second.status].filter((status) => status < 300)).toHaveLength(1)
      expect(await hasWayToSignIn(api.db, adminId)).toBe(true)
    }
  })

  it('is a way to sign in for whoever is the first admin', async () => {
    await sql`delete from admin_passkey`.execute(api.db)
    await sql`delete from admin_password`.execute(api.db)
    await client.newOwner({ access: 'limited' })
    expect(await canSomebodySignIn(api.db)).toBe(false)
    await client.newOwner()
    expect(await canSomebodySignIn(api.db)).toBe(true)
  })

  it('goes with its admin', async () => {
    const owner = await client.newOwner()
    await client.newOwner()
    await api.runChange(ORIGIN, (change) => removeAdmin(change, owner.session.adminId))
    expect((await client.signIn(attemptOf(owner))).status).toBe(401)
    const { rows } = await sql`select from admin_password where admin_id = ${
      owner.session.adminId
    }`.execute(api.db)
    expect(rows).toEqual([])
  })
})

async function addPasskey(adminId: string): Promise<string> {
  const { id } = await api.db
    .insertInto('admin_passkey')
    .values({
      admin_id: adminId,
      credential_id: randomBytes(16),
      public_key: randomBytes(16),
      counter: '0',
      transports: [],
      name: 'Laptop',
      is_backed_up: false,
      last_used_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

describe('signing in by a password', () => {
  it('takes the address in any case, and what other keyboards make of the password', async () => {
    const session = await createConsoleSession(api.db)
    const { key, proof } = await client.offer(session)
    const app = new AuthenticatorApp(key, api.clock)
    const password = 'Café latte 29 boulevards'
    const set = await client.setUp(session, { password, key, proof, code: app.code() })
    expect(set.status).toBe(200)
    api.clock.advance(30_000)
    const { email = '' } = (await findAdminById(api.db, session.adminId)) ?? {}
    const typed = { email: ` ${email.toUpperCase()} `, password: password.normalize('NFD') }
    const [head, tail] = [app.code().slice(0, 3), app.code().slice(3)]
    expect((await client.signIn({ ...typed, code: `${head} ${tail}` })).status).toBe(200)
  })

  it('answers the same whatever is wrong, and sets no cookie', async () => {
    const owner = await client.newOwner()
    const passkeyOnly = await createConsoleSession(api.db)
    const { email: otherEmail = '' } = (await findAdminById(api.db, passkeyOnly.adminId)) ?? {}
    const used = attemptOf(owner)
    expect((await client.signIn(used)).status).toBe(200)
    const refusedBefore = (await client.auditOf('admin_sign_in.refused', null)).length
    const attempts: PasswordAttempt[] = [
      attemptOf(owner, { password: OTHER_PASSWORD, code: owner.app.code(1) }),
      attemptOf(owner, { code: owner.app.wrongCode() }),
      attemptOf(owner, { code: '' }),
      attemptOf(owner, { password: '', code: '' }),
      attemptOf(owner, { password: 'x'.repeat(1_024) }),
      used,
      attemptOf(owner, { email: 'nobody@example.com' }),
      attemptOf(owner, { email: '' }),
      attemptOf(owner, { email: 'nul\0@example.com' }),
      attemptOf(owner, { email: otherEmail }),
    ]
    const answers = []
    for (const attempt of attempts) {
      const { status, body, headers } = await client.signIn(attempt)
      expect(headers['set-cookie']).toBeUndefined()
      answers.push({ status, ...body, request_id: '' })
    }
    expect(answers[0]).toMatchObject({ status: 401, code: 'sign_in_failed' })
    expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1)
    expect(await client.auditOf('admin_sign_in.refused', owner.session.adminId)).toHaveLength(6)
    expect(await client.auditOf('admin_sign_in.refused', passkeyOnly.adminId)).toHaveLength(1)
    const unknown = (await client.auditOf('admin_sign_in.refused', null)).slice(refusedBefore)
    expect(unknown).toHaveLength(3)
    expect(unknown[0]).toEqual({
      description: 'refused somebody who is no admin by password',
      after: { method: 'password' },
      actor_name: 'Unknown',
    })
  })

  it('takes the codes of one step before and after, and none of an earlier one than was taken', async () => {
    const owner = await client.newOwner()
    api.clock.advance(90_000)
    const at = async (steps: number) =>
      (await client.signIn(attemptOf(owner, { code: owner.app.code(steps) }))).status
    expect(await at(-2)).toBe(401)
    expect(await at(2)).toBe(401)
    expect(await at(-1)).toBe(200)
    expect(await at(-1)).toBe(401)
    expect(await at(1)).toBe(200)
    expect(await at(0)).toBe(401)
  })

  it('takes a code once when many send it at once', async () => {
    const owner = await client.newOwner()
    const attempt = attemptOf(owner)
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.signIn(attempt)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(7)
  })

  it('makes a hash of older parameters anew', async () => {
    const owner = await client.newOwner()
    const { adminId } = owner.session
    const old = await hashWith(PASSWORD, { memoryCost: 8_192, timeCost: 1, parallelism: 1 })
    await sql`update admin_password set password_hash = ${old} where admin_id = ${adminId}`.execute(
      api.db,
    )
    expect((await client.signIn(attemptOf(owner, { password: 'wrong wrong wrong' }))).status).toBe(
      401,
    )
    expect((await client.storedOf(adminId)).password_hash).toBe(old)
    expect((await client.signIn(attemptOf(owner))).status).toBe(200)
    expect((await client.storedOf(adminId)).password_hash).toMatch(/\$m=19456,t=3,p=1\$/)
    api.clock.advance(30_000)
    expect((await client.signIn(attemptOf(owner))).status).toBe(200)
  })

  it('comes from a page of the console', async () => {
    const owner = await client.newOwner()
    for (const headers of [
      {},
      { 'sec-fetch-site': 'same-origin' },
      { 'x-heliograph-console': '1', origin: 'https://evil.example' },
      { ...OWN_PAGE, 'sec-fetch-site': 'same-site' },
    ] as Record<string, string>[]) {
      const { status, body } = await client.signIn(attemptOf(owner), headers)
      expect([status, body.code]).toEqual([403, 'cross_site_request'])
    }
    const session = owner.session.headers['cookie'] ?? ''
    for (const [method, url] of [
      ['POST', STEP_UP_CODE_PATH],
      ['POST', OWN_PASSWORD_PATH],
      ['POST', `${OWN_PASSWORD_PATH}/options`],
      ['PATCH', OWN_PASSWORD_PATH],
      ['DELETE', OWN_PASSWORD_PATH],
    ] as const) {
      const { body } = await client.send(
        method,
        url,
        { cookie: session },
        { password: 'x', code: 'x' },
      )
      expect([url, body.code]).toEqual([url, 'cross_site_request'])
    }
  })

  it('goes on after a change of the master key', async () => {
    const owner = await client.newOwner()
    const { adminId } = owner.session
    const next = randomBytes(32).toString('base64')
    const keys = parseMasterKeys(`${next},${PREPARED_MASTER_KEY}`, 'test')
    const columns = SEALED_COLUMNS.filter(({ table }) => table === 'admin_password')
    expect(columns).toHaveLength(1)
    const before = await client.storedOf(adminId)
    await resealSecrets(
      { db: api.db, sealer: createSealer(keys), keyId: keys.current.id, columns },
      new AbortController().signal,
      () => undefined,
    )
    const { totp_secret_sealed: sealed } = await client.storedOf(adminId)
    const alone = createSealer(parseMasterKeys(next, 'test'))
    expect(alone.open(sealed, codeSecretContext(adminId))).toEqual(await readAppKey(owner.key))
    await sql`update admin_password set totp_secret_sealed = ${before.totp_secret_sealed}
      where admin_id = ${adminId}`.execute(api.db)
  })
})

it('a passkey made after a password is offered beside it', async () => {
  const owner = await client.newOwner()
  const { body: options } = await client.send<{ challenge: string; user: { id: string } }>(
    'POST',
    '/console/session/passkeys/options',
    owner.session.headers,
  )
  const credential = new SoftwareAuthenticator(BASE_URL).register(options)
  const added = await client.send('POST', '/console/session/passkeys', owner.session.headers, {
    ...{ name: 'Laptop', credential },
  })
  const stepUp = await client.send<{ passkey: object | null; code: boolean }>(
    'POST',
    '/console/session/step_up_options',
    headersOf(tokenOf(added.headers)),
  )
  expect([stepUp.body.passkey === null, stepUp.body.code]).toEqual([false, true])
})
