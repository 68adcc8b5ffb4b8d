import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BASE_URL, type TestRefusal } from '../../../test/support/api-app.ts'
import { createServiceApi, type ServiceApi } from '../../../test/support/composed-api.ts'
import { createConsoleSession, OWN_PAGE, toCookie } from '../../../test/support/console-session.ts'
import {
  startIdentityProvider,
  type TestAccount,
  type TestIdentityProvider,
} from '../../../test/support/identity-provider.ts'
import { lastAuditEntry } from '../../../test/support/write-contract.ts'
import { PERMISSIONS } from '../../schema/permissions.ts'
import { newSecret } from '../../platform/ids.ts'

const REDIRECT_URI = `${BASE_URL}/console/sign-in/provider`
const PATH = '/console/session/provider'

let api: ServiceApi
let idp: TestIdentityProvider
let boss: Headers
beforeAll(async () => {
  api = await createServiceApi()
  idp = await startIdentityProvider(REDIRECT_URI)
  boss = (await createConsoleSession(api.db)).headers
  const { status } = await send('/console/identity_provider', boss, setup(), 'PATCH')
  expect(status).toBe(200)
})
afterAll(async () => {
  await idp.close()
  await api.close()
})
beforeEach(async () => {
  idp.tampering = undefined
  // The limit of attempts has tests of its own.
  await sql`delete from rate_limit`.execute(api.db)
})

type Headers = Readonly<Record<string, string>>
interface Answer extends TestRefusal {
  readonly id: string
  readonly url: string
  readonly method: string
  readonly setup_required: boolean
  readonly stepped_up_until: string | null
  readonly admin: { readonly id: string; readonly access: string }
  readonly data: readonly { readonly id: string; readonly is_in_use: boolean }[]
  readonly bound_admins: number
  readonly sign_in_url: string
  readonly problems: readonly { readonly field: string }[]
}

const setup = () => ({
  issuer: idp.issuer,
  client_id: idp.clientId,
  client_secret: idp.clientSecret,
})
const send = (
  url: string,
  headers: Headers,
  payload?: object,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE' = 'POST',
) =>
  api.request<Answer>(url, {
    key: null,
    headers,
    method,
    ...(payload === undefined ? {} : { payload }),
  })

const newAccount = (more: Partial<TestAccount> = {}): TestAccount => {
  const subject = newSecret(8).toLowerCase()
  return { subject, email: `${subject}@example.com`, email_verified: true, ...more }
}

const invite = async (email = '', access = 'full') => {
  const names = { first_name: 'Ada', last_name: 'Lovelace' }
  return (await send('/admin_users', boss, { email, access, ...names })).body
}

const cookieOf = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
  /^[^;]+/.exec([headers['set-cookie']].flat().map(String)[0] ?? '')?.[0] ?? ''

/** Begins in a browser, and comes back to it. */
async function goThere(headers: Headers = OWN_PAGE, how = 'start') {
  const begun = await send(`${PATH}/${how}`, headers, {})
  expect([begun.status, begun.body.message]).toEqual([200, undefined])
  const cookie = [headers['cookie'], cookieOf(begun)].filter(Boolean).join('; ')
  return {
    url: begun.body.url,
    headers: { ...headers, cookie },
    answer: await idp.visit(begun.body.url),
  }
}

async function signIn(account: TestAccount, headers: Headers = OWN_PAGE, how = 'start') {
  idp.account = account
  const back = await goThere(headers, how)
  return send(PATH, back.headers, back.answer)
}

const refusal = ({ status, body }: { readonly status: number; readonly body: Answer }) => [
  status,
  body.code,
]
const REFUSED = [401, 'sign_in_failed']

const countRefused = async () =>
  (
    await api.db
      .selectFrom('audit_entry')
      .select('recorded_at')
      .where('action', '=', 'admin_sign_in.refused')
      .execute()
  ).length

const newBound = async (access = 'full') => {
  const account = newAccount()
  const invited = await invite(account.email, access)
  const signedIn = await signIn(account)
  expect(signedIn.status).toBe(200)
  const token = cookieOf(signedIn).split('=')[1] ?? ''
  return { account, invited, signedIn, headers: { ...OWN_PAGE, cookie: toCookie(token) } }
}

describe('an invited admin', () => {
  it('signs in by the provider, is bound to its subject, and uses the invitation up', async () => {
    const { account, invited, signedIn } = await newBound()
    expect(signedIn.body).toMatchObject({
      method: 'oidc',
      setup_required: false,
      admin: { id: invited.id, access: 'full' },
    })
    expect(signedIn.body.stepped_up_until).not.toBeNull()
    const token = invited.sign_in_url.split('#token=')[1]
    expect(refusal(await send('/console/session/link', OWN_PAGE, { token }))).toEqual(REFUSED)
    const again = await signIn({ ...account, email: 'changed@example.com', email_verified: false })
    expect([again.status, again.body.admin.id]).toEqual([200, invited.id])
  })

  it('is asked for by code, PKCE, state and nonce, and for the exact redirect URI', async () => {
    idp.account = newAccount()
    const { url, answer } = await goThere()
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      response_type: 'code',
      redirect_uri: REDIRECT_URI,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
      state: answer['state'],
    })
    expect(answer['iss']).toBe(idp.issuer)
  })

  it.each([
    ['an address that is not verified', { email_verified: false }],
    ['no word on whether it is verified', { email_verified: undefined as never }],
    ['a word that is no truth value', { email_verified: 'true' as never }],
    ['no address', { email: undefined as never }],
  ])('is not bound with %s', async (_what, claims) => {
    const account = newAccount()
    await invite(account.email)
    expect(refusal(await signIn({ ...account, ...claims }))).toEqual(REFUSED)
    expect(await lastAuditEntry(api, 'admin_sign_in.refused')).toMatchObject({
      after: { method: 'identity provider' },
    })
  })

  it('is not bound by an address that is verified as another one alone', async () => {
    const invited = newAccount()
    await invite(invited.email)
    const attacker = newAccount()
    // The ID token has what the person has written, and the user info what it has proven.
    const { email } = invited
    idp.tampering = { claims: (claims) => ({ ...claims, email, email_verified: undefined }) }
    expect(refusal(await signIn(attacker))).toEqual(REFUSED)
    idp.tampering = { claims: (claims) => ({ ...claims, email_verified: false }) }
    expect(refusal(await signIn(invited))).toEqual(REFUSED)
    idp.tampering = { claims: (claims) => ({ ...claims, email_verified: undefined }) }
    expect((await signIn(invited)).status).toBe(200)
  })

  it.each([
    ['a subject that cannot be stored', { subject: 'a\0b' }],
    ['a subject without end', { subject: 'a'.repeat(256) }],
    ['an address that cannot be stored', { email: 'a\0@example.com' }],
    ['an address without end', { email: `${'a'.repeat(300)}@example.com` }],
  ])('with %s is refused, and nothing breaks', async (_what, wrong) => {
    const account = newAccount()
    await invite(account.email)
    expect(refusal(await signIn({ ...account, ...wrong }))).toEqual(REFUSED)
  })

  it('is known by the subject alone: an address that came to somebody else signs nobody in', async () => {
    const { account } = await newBound()
    expect(refusal(await signIn({ ...account, subject: 'another' }))).toEqual(REFUSED)
  })

  it('needs an invitation that is open: not that of a week ago, and not none', async () => {
    expect(refusal(await signIn(newAccount()))).toEqual(REFUSED)
    const account = newAccount()
    const { id } = await invite(account.email)
    await sql`update admin_sign_in_link set expires_at = now() - interval '1 second'
      where admin_id = ${id}`.execute(api.db)
    expect(refusal(await signIn(account))).toEqual(REFUSED)
    expect((await send(`/admin_users/${id}/sign_in_link`, boss)).status).toBe(200)
    expect((await signIn(account)).status).toBe(200)
  })

  it('who has another way to sign in is bound by no address', async () => {
    const account = newAccount()
    const { id } = await invite(account.email)
    await sql`insert into admin_passkey
      (admin_id, credential_id, public_key, counter, transports, name, is_backed_up)
      values (${id}, ${Buffer.from(account.subject)}, '', 0, '{}', 'Laptop', false)`.execute(api.db)
    expect(refusal(await signIn(account))).toEqual(REFUSED)
  })

  it('who is deactivated does not sign in, and loses the session at once', async () => {
    const { account, invited, headers } = await newBound()
    const set = (deactivated: boolean) =>
      send(`/admin_users/${invited.id}`, boss, { deactivated }, 'PATCH')
    expect((await set(true)).status).toBe(200)
    expect((await send('/console/session', headers, undefined, 'GET')).status).toBe(401)
    expect(refusal(await signIn(account))).toEqual(REFUSED)
    expect((await send(`/admin_users/${invited.id}/sign_in_link`, boss)).status).toBe(409)
    expect((await set(false)).status).toBe(200)
    expect((await signIn(account)).status).toBe(200)
  })
})

describe('what comes back', () => {
  it('is taken once, in the browser that began, for the state that it began with', async () => {
    const account = newAccount()
    await invite(account.email)
    idp.account = account
    const [mine, other] = [await goThere(), await goThere()]
    expect(refusal(await send(PATH, OWN_PAGE, mine.answer))).toEqual(REFUSED)
    expect(refusal(await send(PATH, other.headers, mine.answer))).toEqual(REFUSED)
    expect((await send(PATH, { cookie: mine.headers.cookie }, mine.answer)).status).toBe(403)
    expect((await send(PATH, mine.headers, mine.answer)).status).toBe(200)
    expect(refusal(await send(PATH, mine.headers, mine.answer))).toEqual(REFUSED)
  })

  it('is not taken after five minutes', async () => {
    idp.account = newAccount()
    await invite(idp.account.email)
    const back = await goThere()
    api.clock.advance(5 * 60_000 + 1)
    expect(refusal(await send(PATH, back.headers, back.answer))).toEqual(REFUSED)
  })

  it.each([
    ['the issuer of another provider', { iss: 'https://evil.example' }],
    ['no issuer', { iss: undefined }],
    ['the code of another sign-in', { code: 'stolen' }],
  ])('is refused with %s', async (_what, wrong) => {
    idp.account = newAccount()
    await invite(idp.account.email)
    const back = await goThere()
    const before = await countRefused()
    expect(refusal(await send(PATH, back.headers, { ...back.answer, ...wrong }))).toEqual(REFUSED)
    expect(await countRefused()).toBe(before + 1)
  })

  it('with the code of an attacker is of no use in the browser of a victim', async () => {
    const { account } = await newBound()
    idp.account = account
    const attacker = await goThere()
    const victim = await goThere()
    const mixed = { ...attacker.answer, state: victim.answer['state'] }
    expect(refusal(await send(PATH, victim.headers, mixed))).toEqual(REFUSED)
  })

  it.each([
    ['another nonce', { claims: (claims: object) => ({ ...claims, nonce: 'another' }) }],
    [
      'another issuer',
      { claims: (claims: object) => ({ ...claims, iss: 'https://evil.example' }) },
    ],
    ['another audience', { claims: (claims: object) => ({ ...claims, aud: 'another' }) }],
    ['a time that is over', { claims: (claims: object) => ({ ...claims, exp: 1_700_000_000 }) }],
    ['a signature by a key of nobody', { isForeignKey: true }],
  ])('with a token of %s is refused, without internals', async (_what, tampering) => {
    const account = newAccount()
    await invite(account.email)
    idp.tampering = tampering
    const refused = await signIn(account)
    expect(refusal(refused)).toEqual(REFUSED)
    expect(refused.body.message).not.toMatch(/nonce|jwt|claim|kid|stack/i)
  })

  it('with a token that is signed by the secret of the client is refused', async () => {
    const account = newAccount()
    await invite(account.email)
    idp.tampering = { secret: idp.clientSecret }
    expect(refusal(await signIn(account))).toEqual(REFUSED)
  })

  it('with a refusal of the provider says so in words', async () => {
    const { answer, headers } = await goThere()
    const denied = { state: answer['state'], error: 'access_denied', iss: idp.issuer }
    expect((await send(PATH, headers, denied)).body.message).toContain('did not let you in')
    const odd = { ...denied, error: '<script>' }
    expect((await send(PATH, headers, odd)).body.message).not.toContain('script')
  })
})

describe('a session by the provider', () => {
  it('is stepped up only where the provider says that its person was there just now', async () => {
    const { account } = await newBound()
    const old = Math.floor(Date.now() / 1_000) - 3_600
    api.clock.advance(Date.now() - api.clock.now().getTime())
    for (const auth_time of [old, undefined]) {
      idp.tampering = { claims: (claims) => ({ ...claims, auth_time }) }
      const { status, body } = await signIn(account)
      expect([status, body.stepped_up_until]).toEqual([200, null])
    }
  })

  it('is stepped up by the provider, which asks anew, and for its own admin alone', async () => {
    const { account, headers } = await newBound()
    const other = await newBound()
    api.clock.advance(Date.now() - api.clock.now().getTime())
    const stepUp = async (who: TestAccount) => signIn(who, headers, 'step_up')
    const end = () => sql`update admin_session set stepped_up_at = null`.execute(api.db)
    await end()
    expect(refusal(await stepUp(other.account))).toEqual(REFUSED)
    idp.tampering = { claims: (claims) => ({ ...claims, auth_time: Number(claims.iat) - 300 }) }
    expect(refusal(await stepUp(account))).toEqual(REFUSED)
    idp.tampering = undefined
    const { url } = await goThere(headers, 'step_up')
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      prompt: 'login',
      max_age: '0',
    })
    const done = await stepUp(account)
    expect(done.status).toBe(200)
    expect(done.body.stepped_up_until).not.toBeNull()
    boss = (await createConsoleSession(api.db)).headers
  })

  it('of somebody else ends no step-up that another session began', async () => {
    const { account, headers } = await newBound()
    const other = await newBound()
    idp.account = account
    const back = await goThere(headers, 'step_up')
    const attempt = back.headers.cookie.split('; ')[1] ?? ''
    const cookie = `${other.headers.cookie}; ${attempt}`
    expect(refusal(await send(PATH, { ...OWN_PAGE, cookie }, back.answer))).toEqual(REFUSED)
  })

  it('has the access that the groups of its admin give, and none without them', async () => {
    const { account, invited } = await newBound()
    const groups = {
      group_claim: 'groups',
      full_access_groups: ['it'],
      limited_access_groups: ['help'],
    }
    await send('/console/identity_provider', boss, groups, 'PATCH')
    try {
      const limited = await signIn({ ...account, groups: ['all', 'help'] })
      expect(limited.body.admin).toMatchObject({ id: invited.id, access: 'limited' })
      expect((await signIn({ ...account, groups: ['help', 'it'] })).body.admin.access).toBe('full')
      expect(refusal(await signIn({ ...account, groups: ['all'] }))).toEqual(REFUSED)
      expect(refusal(await signIn(account))).toEqual(REFUSED)
      const { headers } = await createConsoleSession(api.db)
      expect(refusal(await signIn(newAccount(), headers, 'connect'))).toEqual(REFUSED)
      const known = { ...newAccount(), groups: ['it'] }
      const cookie = cookieOf(await signIn(known, headers, 'connect'))
      const stepUp = async (group: string) =>
        signIn({ ...known, groups: [group] }, { ...OWN_PAGE, cookie }, 'step_up')
      api.clock.advance(Date.now() - api.clock.now().getTime())
      expect(refusal(await stepUp('all'))).toEqual(REFUSED)
      expect(refusal(await stepUp('help'))).toEqual(REFUSED)
      expect((await stepUp('it')).status).toBe(200)
    } finally {
      await send('/console/identity_provider', boss, { group_claim: null }, 'PATCH')
    }
  })
})

describe('an account', () => {
  it('is connected by whoever is signed in and stepped up, to one admin, and disconnected', async () => {
    const own = await createConsoleSession(api.db)
    const account = newAccount({ email_verified: false })
    expect((await signIn(account, own.headers, 'connect')).status).toBe(200)
    const signedIn = await signIn(account)
    expect([signedIn.status, signedIn.body.admin.id]).toEqual([200, own.adminId])
    const second = await createConsoleSession(api.db)
    expect((await signIn(account, second.headers, 'connect')).status).toBe(409)
    const stale = await createConsoleSession(api.db, { isSteppedUp: false })
    const { body } = await send(`${PATH}/connect`, stale.headers, {})
    expect(body.code).toBe('step_up_required')
    const session = await createConsoleSession(api.db, { adminId: own.adminId })
    const listed = await send('/console/session/identities', session.headers, undefined, 'GET')
    expect(listed.body.data).toMatchObject([{ is_in_use: true }])
    const id = listed.body.data[0]?.id ?? ''
    const remove = (headers: Headers) =>
      send(`/console/session/identities/${id}`, headers, undefined, 'DELETE')
    expect((await remove(second.headers)).status).toBe(404)
    expect((await remove(session.headers)).status).toBe(409)
  })

  it('is not connected by a session whose device has come to be asked for meanwhile', async () => {
    const back = await goThere((await createConsoleSession(api.db)).headers, 'connect')
    await sql`update organisation set admins_require_trusted_device = true`.execute(api.db)
    expect((await send(PATH, back.headers, back.answer)).body.code).toBe('trusted_device_required')
    await sql`update organisation set admins_require_trusted_device = false`.execute(api.db)
  })

  it('ends the set-up after a one-time link', async () => {
    const pending = await createConsoleSession(api.db, { isSetupPending: true, isSteppedUp: false })
    const connected = await signIn(newAccount(), pending.headers, 'connect')
    expect([connected.status, connected.body.setup_required]).toEqual([200, false])
  })

  it('that is connected ends what others have begun by links of the admin', async () => {
    const own = await createConsoleSession(api.db)
    const other = { adminId: own.adminId, isSetupPending: true }
    const { headers } = await createConsoleSession(api.db, other)
    expect((await signIn(newAccount(), own.headers, 'connect')).status).toBe(200)
    expect((await send('/console/session', headers, undefined, 'GET')).status).toBe(401)
  })
})

describe('the provider', () => {
  const change = (payload: object, headers = boss) =>
    send('/console/identity_provider', headers, payload, 'PATCH')

  it('is checked, and the wrong field is named', async () => {
    const check = async (wrong: object) => {
      const { body } = await send('/console/identity_provider/check', boss, {
        ...setup(),
        ...wrong,
      })
      return body.problems.map(({ field }) => field)
    }
    expect(await check({})).toEqual([])
    expect(await check({ issuer: `${idp.issuer}/` })).toEqual(['issuer'])
    expect(await check({ issuer: `${idp.issuer}/other` })).toEqual(['issuer'])
    expect(await check({ issuer: 'https://10.0.0.1' })).toEqual(['issuer'])
    expect(await check({ client_secret: 'wrong' })).toEqual(['client_secret'])
    expect(await check({ client_id: 'wrong' })).toEqual(['client_secret'])
    expect(await check({ client_secret: undefined })).toEqual([])
    const wrong = { ...setup(), client_secret: 'wrong' }
    const { body } = await send('/console/identity_provider/check', boss, wrong)
    expect(JSON.stringify(body)).toContain('does not accept the client ID with this secret')
  })

  it('tells its secret to nobody: no answer, no audit entry, and no other issuer', async () => {
    const { body } = await send('/console/identity_provider', boss, undefined, 'GET')
    expect(JSON.stringify(body)).not.toContain(idp.clientSecret)
    const entry = await lastAuditEntry(api, 'admin_identity_provider.created')
    expect(JSON.stringify(entry)).not.toContain(idp.clientSecret)
    const moved = await change({ issuer: 'https://evil.example', issuer_change_confirmed: true })
    expect([moved.status, moved.body.details?.map(({ path }) => path)]).toEqual([
      422,
      ['client_secret'],
    ])
    expect((await change({ client_id: 'another' })).status).toBe(422)
    const refused = await change({ issuer: 'http://10.0.0.1', client_secret: 'x' })
    expect(refused.body.details).toMatchObject([{ path: 'issuer' }])
  })

  it('is changed by whoever has stepped up only', async () => {
    const { headers } = await createConsoleSession(api.db, { isSteppedUp: false })
    expect((await change({ name: 'Login' }, headers)).body.code).toBe('step_up_required')
    const limited = await createConsoleSession(api.db, { access: 'limited' })
    expect((await change({ name: 'Login' }, limited.headers)).body.code).toBe('permission_missing')
    const pending = await createConsoleSession(api.db, { isSetupPending: true })
    for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
      const payload = method === 'PATCH' ? { name: 'Login' } : undefined
      const { body } = await send('/console/identity_provider', pending.headers, payload, method)
      expect([method, body.code]).toEqual([method, 'sign_in_setup_required'])
    }
    const key = await api.createKey([...PERMISSIONS])
    const options = { key, method: 'PATCH', payload: { name: 'Login' } } as const
    expect((await api.request('/console/identity_provider', options)).status).toBe(403)
  })

  it('of another issuer knows nobody whom the one before knew, says so, and unbinds nobody', async () => {
    const { account } = await newBound()
    const other = await startIdentityProvider(REDIRECT_URI)
    try {
      const there = { issuer: other.issuer, client_secret: other.clientSecret }
      const warned = await change(there)
      expect(warned.status).toBe(409)
      expect(warned.body.message).toMatch(/^\d+ admins sign in by http/)
      idp.account = account
      const begun = await goThere()
      const confirmed = await change({ ...there, issuer_change_confirmed: true })
      expect([confirmed.status, confirmed.body.bound_admins]).toEqual([200, 0])
      expect(refusal(await send(PATH, begun.headers, begun.answer))).toEqual(REFUSED)
      other.account = account
      const fresh = await send(`${PATH}/start`, OWN_PAGE, {})
      const headers = { ...OWN_PAGE, cookie: cookieOf(fresh) }
      expect(refusal(await send(PATH, headers, await other.visit(fresh.body.url)))).toEqual(REFUSED)
      await change({ ...setup(), issuer_change_confirmed: true })
      expect((await signIn(account)).status).toBe(200)
    } finally {
      await other.close()
    }
  })

  it('that is off or removed signs nobody in', async () => {
    const { account } = await newBound()
    expect((await send(PATH, {}, undefined, 'GET')).body).toEqual({ name: '127.0.0.1' })
    await change({ enabled: false })
    expect((await send(PATH, {}, undefined, 'GET')).body).toEqual({ name: null })
    expect(refusal(await send(`${PATH}/start`, OWN_PAGE, {}))).toEqual(REFUSED)
    await change({ enabled: true })
    expect((await signIn(account)).status).toBe(200)
    expect((await send('/console/identity_provider', boss, undefined, 'DELETE')).status).toBe(204)
    expect(refusal(await send(`${PATH}/start`, OWN_PAGE, {}))).toEqual(REFUSED)
    await change(setup())
    expect((await signIn(account)).status).toBe(200)
  })

  it('that is switched off while it answers signs nobody in', async () => {
    const { account } = await newBound()
    const during = (work: () => Promise<unknown>) => {
      idp.tampering = {
        claims: async (claims) => {
          await work()
          return claims
        },
      }
      return signIn(account)
    }
    expect(refusal(await during(() => change({ enabled: false })))).toEqual(REFUSED)
    await change({ enabled: true })
    expect((await during(() => Promise.resolve())).status).toBe(200)
  })

  it('that cannot be reached is named as that', async () => {
    const gone = await startIdentityProvider(REDIRECT_URI)
    await gone.close()
    const bare = { issuer: gone.issuer, client_secret: 'x' }
    expect((await change({ ...bare, issuer_change_confirmed: true })).status).toBe(200)
    const { status, body } = await send(`${PATH}/start`, OWN_PAGE, {})
    expect([status, body.message]).toEqual([401, expect.stringContaining('cannot be reached')])
    expect(body.message).not.toContain('127.0.0.1')
    const checked = await send('/console/identity_provider/check', boss, { ...setup(), ...bare })
    expect(JSON.stringify(checked.body.problems)).toContain('127.0.0.1')
    await change({ ...setup(), issuer_change_confirmed: true })
  })
})
