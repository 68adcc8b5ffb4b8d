import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BASE_URL, type TestRefusal } from '../../../test/support/api-app.ts'
import { createServiceApi, type ServiceApi } from '../../../test/support/composed-api.ts'
import {
  createConsoleSession,
  OWN_PAGE,
  toCookie,
  type TestSession,
} from '../../../test/support/console-session.ts'
import {
  SoftwareAuthenticator,
  type Falsified,
} from '../../../test/support/software-authenticator.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { PERMISSIONS } from '../../schema/permissions.ts'
import { findAdminById } from '../admins/find-admin.ts'
import { issueFirstAdminLink, issueLink } from './sign-in-link.ts'

const ORIGIN = { actor: SYSTEM_ACTOR }

interface Options {
  readonly challenge: string
  readonly user: { readonly id: string }
}

interface SessionBody extends TestRefusal {
  readonly id: string
  readonly admin: { readonly id: string }
  readonly method: string
  readonly setup_required: boolean
  readonly stepped_up_until: string | null
}

let api: ServiceApi
beforeAll(async () => {
  api = await createServiceApi()
})
beforeEach(async () => {
  await sql`delete from rate_limit_slot where bucket like 'sign-in %'`.execute(api.db)
  await sql`delete from rate_limit where bucket like 'sign-in %'`.execute(api.db)
})
afterAll(() => api.close())

const send = <Body = SessionBody>(
  url: string,
  headers: Readonly<Record<string, string>>,
  payload?: object,
  method: 'GET' | 'POST' | 'DELETE' = 'POST',
) =>
  api.request<Body>(url, {
    key: null,
    method,
    headers,
    ...(payload === undefined ? {} : { payload }),
  })

const headersOf = (token: string) => ({ ...OWN_PAGE, cookie: toCookie(token) })

function tokenOf(headers: Readonly<Record<string, unknown>>): string {
  const [cookie = ''] = [headers['set-cookie']].flat() as string[]
  return /^__Host-heliograph_session=([\w-]{43});/.exec(cookie)?.[1] ?? ''
}

/** An admin who is signed in and has a passkey. */
async function newOwner(): Promise<{ session: TestSession; passkey: SoftwareAuthenticator }> {
  const session = await createConsoleSession(api.db)
  const passkey = new SoftwareAuthenticator(BASE_URL)
  const { body: options } = await send<Options>(
    '/console/session/passkeys/options',
    session.headers,
  )
  const { status, headers } = await send('/console/session/passkeys', session.headers, {
    name: 'Laptop',
    credential: passkey.register(options),
  })
  expect(status).toBe(200)
  const token = tokenOf(headers)
  return { session: { ...session, token, headers: headersOf(token) }, passkey }
}

const signInOptions = async () =>
  (await send<Options>('/console/session/passkey_options', OWN_PAGE)).body

const signIn = (credential: object, headers: Record<string, string> = OWN_PAGE) =>
  send('/console/session/passkey', headers, { credential })

const stepUp = async (session: TestSession, passkey: SoftwareAuthenticator, falsified = {}) => {
  const { body } = await send<{ passkey: Options | null }>(
    '/console/session/step_up_options',
    session.headers,
  )
  return send('/console/session/step_up', session.headers, {
    credential: passkey.authenticate(body.passkey ?? { challenge: '' }, falsified),
  })
}

const refusalsOf = async (adminId: string) => {
  const { rows } = await sql`select from audit_entry
    where action = 'admin_sign_in.refused' and target_id = ${adminId}`.execute(api.db)
  return rows.length
}

const expireStepUp = (id: string) =>
  sql`update admin_session set stepped_up_at = now() - interval '5 minutes' where id = ${id}`.execute(
    api.db,
  )

const WRONG: [string, Falsified][] = [
  ['another origin', { origin: 'https://evil.example' }],
  ['the plain origin', { origin: BASE_URL.replace('https', 'http') }],
  ['another site', { rpId: 'evil.example' }],
  ['a challenge of nobody', { challenge: Buffer.alloc(54).toString('base64url') }],
  ['no user verification', { isUserVerified: false }],
  ['another ceremony', { type: 'webauthn.payment' }],
]

describe('a passkey', () => {
  it('ends the set-up after a link, and signs in from then on', async () => {
    const { adminId } = await createConsoleSession(api.db)
    const admin = await findAdminById(api.db, adminId)
    if (admin === undefined) throw new Error('no admin')
    const { token } = await api.runChange(ORIGIN, (change) => issueLink(change, admin, 'recovery'))
    const linked = await send('/console/session/link', OWN_PAGE, { token })
    const first = headersOf(tokenOf(linked.headers))
    expect((await send('/devices', first, undefined, 'GET')).status).toBe(403)
    const passkey = new SoftwareAuthenticator(BASE_URL)
    const { body: options } = await send<Options>('/console/session/passkeys/options', first)
    expect(JSON.stringify(options)).not.toContain(`"${adminId}"`)
    expect(options).toMatchObject({
      rp: { id: 'trust.example.com' },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
    const credential = passkey.register(options)
    const added = await send('/console/session/passkeys', first, { name: 'Key', credential })
    expect([added.status, added.body.setup_required]).toEqual([200, false])
    const second = headersOf(tokenOf(added.headers))
    expect(second.cookie).not.toBe(first.cookie)
    expect((await send('/devices', second, undefined, 'GET')).status).toBe(200)
    const again = await signIn(passkey.authenticate(await signInOptions()))
    expect([again.status, again.body.method, again.body.admin.id]).toEqual([
      200,
      'passkey',
      adminId,
    ])
    expect(again.body.stepped_up_until).not.toBeNull()
    expect([linked, added, again].map(({ headers }) => tokenOf(headers)).sort()).toEqual([
      ...new Set([linked, added, again].map(({ headers }) => tokenOf(headers)).sort()),
    ])
  })

  it.each(WRONG)('that says %s neither comes nor signs in', async (_what, falsified) => {
    const session = await createConsoleSession(api.db)
    const { body: options } = await send<Options>(
      '/console/session/passkeys/options',
      session.headers,
    )
    const made = new SoftwareAuthenticator(BASE_URL).register(options, falsified)
    const added = await send('/console/session/passkeys', session.headers, {
      name: 'Key',
      credential: made,
    })
    expect([added.status, added.body.code]).toEqual([401, 'sign_in_failed'])
    const { passkey, session: own } = await newOwner()
    const answered = passkey.authenticate(await signInOptions(), falsified)
    const { status, body, headers } = await signIn(answered)
    expect([status, body.code, headers['set-cookie']]).toEqual([401, 'sign_in_failed', undefined])
    expect(await refusalsOf(own.adminId)).toBe(1)
  })

  it('whose signature or owner is wrong, or that is unknown, signs nobody in', async () => {
    const { passkey } = await newOwner()
    const stranger = new SoftwareAuthenticator(BASE_URL)
    const wrong = [
      passkey.authenticate(await signInOptions(), { isSignatureBroken: true }),
      passkey.authenticate(await signInOptions(), { userHandle: 'AAAA' }),
      stranger.authenticate(await signInOptions()),
    ]
    for (const credential of wrong) {
      expect((await signIn(credential)).body.code).toBe('sign_in_failed')
    }
  })

  it('is taken once for a challenge, and not for one of another purpose', async () => {
    const { passkey, session } = await newOwner()
    const options = await signInOptions()
    const credential = passkey.authenticate(options)
    expect((await signIn(credential)).status).toBe(200)
    expect((await signIn(credential)).status).toBe(401)
    expect((await signIn(passkey.authenticate(options))).status).toBe(401)
    const { body } = await send<{ passkey: Options }>(
      '/console/session/step_up_options',
      session.headers,
    )
    expect((await signIn(passkey.authenticate(body.passkey))).status).toBe(401)
  })

  it('is not taken later than five minutes after it was asked for', async () => {
    const { passkey } = await newOwner()
    const options = await signInOptions()
    api.clock.advance(5 * 60_000)
    expect((await signIn(passkey.authenticate(options))).status).toBe(401)
    expect((await signIn(passkey.authenticate(await signInOptions()))).status).toBe(200)
  })

  it('whose counter does not rise is refused: there is a copy of it', async () => {
    const { passkey, session } = await newOwner()
    const at = async (counter: number) =>
      (await signIn(passkey.authenticate(await signInOptions(), { counter }))).status
    expect(await at(7)).toBe(200)
    expect(await at(7)).toBe(401)
    expect(await at(6)).toBe(401)
    expect(await at(0)).toBe(401)
    expect(await at(8)).toBe(200)
    expect(await refusalsOf(session.adminId)).toBe(3)
  })

  it('is added by whoever has stepped up only, and the last one stays', async () => {
    const { session, passkey } = await newOwner()
    await expireStepUp(session.id)
    for (const url of ['/console/session/passkeys/options', '/console/session/passkeys']) {
      const { status, body } = await send(url, session.headers, {
        ...(url.endsWith('options') ? {} : { name: 'x', credential: newCredential() }),
      })
      expect([status, body.code]).toEqual([403, 'step_up_required'])
    }
    const { headers } = await stepUp(session, passkey)
    const own = headersOf(tokenOf(headers))
    const { body: list } = await send<{ data: { id: string; name: string }[] }>(
      '/console/session/passkeys',
      own,
      undefined,
      'GET',
    )
    expect(list.data.map(({ name }) => name)).toEqual(['Laptop'])
    const url = `/console/session/passkeys/${list.data[0]?.id ?? ''}`
    expect((await send(url, own, undefined, 'DELETE')).status).toBe(409)
    const second = new SoftwareAuthenticator(BASE_URL)
    const { body: options } = await send<Options>('/console/session/passkeys/options', own)
    const added = await send('/console/session/passkeys', own, {
      name: 'Phone',
      credential: second.register(options),
    })
    const newest = headersOf(tokenOf(added.headers))
    expect((await send(url, newest, undefined, 'DELETE')).status).toBe(200)
    expect((await signIn(passkey.authenticate(await signInOptions()))).status).toBe(401)
    expect((await signIn(second.authenticate(await signInOptions()))).status).toBe(200)
  })

  it('is one of twenty at the most', async () => {
    const { session, passkey } = await newOwner()
    await sql`insert into admin_passkey
      (admin_id, credential_id, public_key, counter, transports, name, is_backed_up)
      select ${session.adminId}, sha256(random()::text::bytea), '', 0, '{}', 'Laptop', false
      from generate_series(2, 20)`.execute(api.db)
    const path = '/console/session/passkeys'
    const { body } = await send<Options>(`${path}/options`, session.headers)
    const credential = new SoftwareAuthenticator(BASE_URL).register(body)
    const added = await send(path, session.headers, { name: 'Key', credential })
    expect(added.status).toBe(409)
    expect((await stepUp(session, passkey)).status).toBe(200)
  })

  it('stays when both of two are removed at once', async () => {
    const { session } = await newOwner()
    const { body: options } = await send<Options>(
      '/console/session/passkeys/options',
      session.headers,
    )
    const credential = new SoftwareAuthenticator(BASE_URL).register(options)
    const added = await send('/console/session/passkeys', session.headers, {
      name: 'x',
      credential,
    })
    const own = headersOf(tokenOf(added.headers))
    const { rows } = await sql<{ id: string }>`
      select id from admin_passkey where admin_id = ${session.adminId}`.execute(api.db)
    const removed = await Promise.all(
      rows.map(({ id }) => send(`/console/session/passkeys/${id}`, own, undefined, 'DELETE')),
    )
    expect(removed.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  it('of another admin can neither be removed nor step up', async () => {
    const [mine, theirs] = [await newOwner(), await newOwner()]
    const { rows } = await sql<{ id: string }>`
      select id from admin_passkey where admin_id = ${theirs.session.adminId}`.execute(api.db)
    const url = `/console/session/passkeys/${rows[0]?.id ?? ''}`
    expect((await send(url, mine.session.headers, undefined, 'DELETE')).status).toBe(404)
    expect((await stepUp(mine.session, theirs.passkey)).status).toBe(401)
    expect(await refusalsOf(mine.session.adminId)).toBe(1)
  })
})

const newCredential = () =>
  new SoftwareAuthenticator(BASE_URL).register({ challenge: 'x', user: { id: 'x' } })

it('whoever tries to sign in too often waits, and the others do not', async () => {
  const { session, passkey } = await newOwner()
  const answers = []
  for (let attempt = 0; attempt < 61; attempt += 1) {
    answers.push((await send('/console/session/passkey_options', OWN_PAGE)).status)
  }
  expect(answers.filter((status) => status === 200)).toHaveLength(60)
  expect(answers.at(-1)).toBe(429)
  expect((await send('/devices', session.headers, undefined, 'GET')).status).toBe(200)
  const credential = passkey.authenticate({ challenge: '' })
  const tries = []
  for (let attempt = 0; attempt < 61; attempt += 1) tries.push((await signIn(credential)).status)
  expect([tries[0], tries.at(-2), tries.at(-1)]).toEqual([401, 401, 429])
  expect((await stepUp(session, passkey)).status).toBe(200)
})

describe('a step-up', () => {
  it('changes the token; the one before answers what is under way, and opens no more', async () => {
    const { session, passkey } = await newOwner()
    await expireStepUp(session.id)
    const { status, headers, body } = await stepUp(session, passkey)
    expect(status).toBe(200)
    expect(body.stepped_up_until).not.toBeNull()
    const token = tokenOf(headers)
    expect(token).not.toBe(session.token)
    const before = await send('/console/session', session.headers, undefined, 'GET')
    expect([before.status, before.body.stepped_up_until]).toEqual([200, null])
    await sql`update admin_session set rotated_at = now() - interval '30 seconds'
      where id = ${session.id}`.execute(api.db)
    expect((await send('/devices', session.headers, undefined, 'GET')).status).toBe(401)
    expect((await send('/devices', headersOf(token), undefined, 'GET')).status).toBe(200)
  })

  it('leaves no session behind when the browser signs in by the token before', async () => {
    const { session, passkey } = await newOwner()
    const { headers } = await stepUp(session, passkey)
    const answered = passkey.authenticate(await signInOptions())
    expect((await signIn(answered, { ...session.headers })).status).toBe(200)
    const left = await send('/console/session', headersOf(tokenOf(headers)), undefined, 'GET')
    expect(left.status).toBe(401)
  })

  it('is good for its session only, and for five minutes', async () => {
    const { session, passkey } = await newOwner()
    const other = await createConsoleSession(api.db, {
      adminId: session.adminId,
      isSteppedUp: false,
    })
    const { body } = await send<{ passkey: Options }>(
      '/console/session/step_up_options',
      session.headers,
    )
    const credential = passkey.authenticate(body.passkey)
    expect((await send('/console/session/step_up', other.headers, { credential })).status).toBe(401)
    expect((await stepUp(session, passkey)).status).toBe(200)
    const shown = await send('/console/session', other.headers, undefined, 'GET')
    expect(shown.body.stepped_up_until).toBeNull()
  })

  it('is tried 20 times a minute in a session at the most', async () => {
    const { session, passkey } = await newOwner()
    for (let attempt = 0; attempt < 20; attempt += 1) {
      expect((await stepUp(session, passkey, { challenge: 'AA' })).status).toBe(401)
    }
    expect((await stepUp(session, passkey)).status).toBe(429)
    const other = await newOwner()
    expect((await stepUp(other.session, other.passkey)).status).toBe(200)
  })

  it.each(WRONG)('is refused with %s', async (_what, falsified) => {
    const { session, passkey } = await newOwner()
    const { status, headers } = await stepUp(session, passkey, falsified)
    expect([status, headers['set-cookie']]).toEqual([401, undefined])
  })
})

describe('sessions', () => {
  interface Listed {
    readonly data: readonly { readonly id: string; readonly admin_id: string }[]
  }

  it('are listed and ended by their admin, and by nobody else that way', async () => {
    const mine = await createConsoleSession(api.db)
    const second = await createConsoleSession(api.db, { adminId: mine.adminId })
    const other = await createConsoleSession(api.db)
    const { body } = await send<Listed>('/console/session/sessions', mine.headers, undefined, 'GET')
    expect(body.data.map(({ id }) => id)).toEqual([mine.id, second.id])
    expect(JSON.stringify(body)).not.toContain(mine.token)
    const end = async (id: string) =>
      (await send(`/console/session/sessions/${id}`, mine.headers, undefined, 'DELETE')).status
    expect(await end(other.id)).toBe(404)
    expect(await end(second.id)).toBe(204)
    expect((await send('/devices', second.headers, undefined, 'GET')).status).toBe(401)
    expect((await send('/devices', other.headers, undefined, 'GET')).status).toBe(200)
  })

  it('of every admin are listed and ended by whoever manages admins', async () => {
    const boss = await createConsoleSession(api.db)
    const other = await createConsoleSession(api.db, { access: 'limited' })
    const { body } = await send<Listed>(
      '/admin_sessions?per_page=100',
      boss.headers,
      undefined,
      'GET',
    )
    expect(body.data).toContainEqual(
      expect.objectContaining({ id: other.id, admin_id: other.adminId }),
    )
    const url = `/admin_sessions/${other.id}`
    expect((await api.request<TestRefusal>(url, { method: 'DELETE' })).body.code).toBe(
      'permission_missing',
    )
    expect((await send(url, boss.headers, undefined, 'DELETE')).status).toBe(204)
    expect((await send('/console/session', other.headers, undefined, 'GET')).status).toBe(401)
    expect((await send(url, boss.headers, undefined, 'DELETE')).status).toBe(404)
  })
})

describe('an invitation', () => {
  const invite = (access: string) => ({
    email: `invited-${Math.random()}@example.com`,
    first_name: 'Alan',
    last_name: 'Turing',
    access,
  })

  it('answers a link that signs the new admin in, and a new one until it has a way of its own', async () => {
    const boss = await createConsoleSession(api.db)
    const { status, body } = await send<{ id: string; sign_in_url: string }>(
      '/admin_users',
      boss.headers,
      invite('full'),
    )
    expect(status).toBe(200)
    expect(body.sign_in_url).toMatch(/^https:\/\/trust\.example\.com\/console\/sign-in#token=/)
    const again = await send<{ sign_in_url: string }>(
      `/admin_users/${body.id}/sign_in_link`,
      boss.headers,
    )
    const follow = (url: string) =>
      send('/console/session/link', OWN_PAGE, { token: url.split('#token=')[1] })
    expect((await follow(body.sign_in_url)).status).toBe(401)
    const followed = await follow(again.body.sign_in_url)
    expect([followed.status, followed.body.admin.id]).toEqual([200, body.id])
    const { session } = await newOwner()
    const refused = await send(`/admin_users/${session.adminId}/sign_in_link`, boss.headers)
    expect(refused.status).toBe(409)
  })

  it('gives a key no way to more than the key holds', async () => {
    const boss = await createConsoleSession(api.db)
    const key = await api.createKey(['Manage Admins'])
    const mighty = await api.createKey([...PERMISSIONS])
    const asKey = (secret: string, url: string, payload?: object) =>
      api.request<TestRefusal>(url, { key: secret, method: 'POST', ...(payload && { payload }) })
    const may = async (secret: string, access: string) => {
      const { body: invited } = await send<{ id: string }>(
        '/admin_users',
        boss.headers,
        invite(access),
      )
      const made = await asKey(secret, '/admin_users', invite(access))
      const renewed = await asKey(secret, `/admin_users/${invited.id}/sign_in_link`)
      expect([made.status, made.body.code]).toEqual([renewed.status, renewed.body.code])
      return made.status === 200 ? 200 : made.body.code
    }
    expect(await may(key, 'billing_only')).toBe(200)
    expect(await may(key, 'limited')).toBe('permission_missing')
    expect(await may(mighty, 'limited')).toBe(200)
    expect(await may(key, 'full')).toBe('permission_missing')
    expect(await may(mighty, 'full')).toBe('permission_missing')
  })
})

describe('the link of the first admin', () => {
  it('is made only while nobody with Full Access can sign in, and is of no use afterwards', async () => {
    await sql`delete from admin_passkey`.execute(api.db)
    const link = await api.runChange(ORIGIN, issueFirstAdminLink)
    const token = link?.token ?? ''
    const details = () => send('/console/session/link_details', OWN_PAGE, { token })
    expect((await details()).body).toMatchObject({ kind: 'first_admin', email: null })
    await newOwner()
    expect((await details()).status).toBe(401)
    const names = { email: 'late@example.com', first_name: 'Too', last_name: 'Late' }
    expect((await send('/console/session/link', OWN_PAGE, { token, ...names })).status).toBe(401)
    expect(await api.runChange(ORIGIN, issueFirstAdminLink)).toBeUndefined()
  })
})
