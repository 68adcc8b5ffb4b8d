import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { TestRefusal } from '../../../test/support/api-app.ts'
import { createServiceApi, type ServiceApi } from '../../../test/support/composed-api.ts'
import {
  createConsoleSession,
  OWN_PAGE,
  toCookie,
  type TestSession,
} from '../../../test/support/console-session.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createAdmin } from '../admins/create-admin.ts'
import { findAdminByEmail, type Admin } from '../admins/find-admin.ts'
import { changeAdmin, removeAdmin } from '../admins/change-admin.ts'
import { setOrganisation } from '../settings/set-organisation.ts'
import type { SignInLinkKind } from './sign-in-link-store.ts'
import { issueLink } from './sign-in-link.ts'

const ORIGIN = { actor: SYSTEM_ACTOR }
const COOKIE = '__Host-heliograph_session'

interface SessionBody {
  readonly id: string
  readonly admin: { readonly id: string; readonly email: string; readonly access: string }
  readonly permissions: readonly string[]
  readonly method: string
  readonly setup_required: boolean
  readonly stepped_up_until: string | null
  readonly idle_ends_at: string
  readonly ends_at: string
}

let api: ServiceApi
let count = 0
beforeAll(async () => {
  api = await createServiceApi()
})
afterAll(() => api.close())

async function newAdmin(): Promise<Admin> {
  count += 1
  const names = { firstName: 'Ada', lastName: 'Byron', access: 'full' } as const
  return api.runChange(ORIGIN, (change) =>
    createAdmin(change, { email: `admin-${count}@example.com`, ...names }),
  )
}

async function newLink(kind: SignInLinkKind, admin?: Admin): Promise<string> {
  const whom = admin ?? (await newAdmin())
  const { token } = await api.runChange(ORIGIN, (change) => issueLink(change, whom, kind))
  return token
}

const follow = (token: string, headers: Record<string, string> = OWN_PAGE) =>
  api.request<SessionBody & TestRefusal>('/console/session/link', {
    method: 'POST',
    key: null,
    headers,
    payload: { token },
  })

const call = <Body = SessionBody & TestRefusal>(
  url: string,
  session: Pick<TestSession, 'headers'>,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE' = 'GET',
  payload?: object,
) =>
  api.request<Body>(url, {
    key: null,
    method,
    headers: session.headers,
    ...(payload === undefined ? {} : { payload }),
  })

/** The token in the cookie that an answer sets. */
function tokenOf(headers: Readonly<Record<string, unknown>>): string {
  const [cookie = ''] = [headers['set-cookie']].flat() as string[]
  return new RegExp(`^${COOKIE}=([^;]*);`).exec(cookie)?.[1] ?? ''
}

const auditOf = async (action: string, targetId: string) => {
  const { rows } = await sql<{ actor_email: string | null; text: string }>`
    select actor_email, to_jsonb(e)::text as text from audit_entry e
    where action = ${action} and target_id = ${targetId}`.execute(api.db)
  return rows
}

describe('a one-time link', () => {
  it('signs in once, with a cookie that only this host gets and no script reads', async () => {
    const admin = await newAdmin()
    const token = await newLink('demo', admin)
    const { status, headers, body } = await follow(token)
    expect(status).toBe(200)
    expect(headers['set-cookie']).toMatch(
      /^__Host-heliograph_session=[\w-]{43}; Path=\/; Max-Age=86400; HttpOnly; Secure; SameSite=Lax$/,
    )
    expect(body).toMatchObject({ admin: { id: admin.id, access: 'full' }, method: 'demo' })
    expect(body.permissions).toContain('Manage Admins')
    const again = await follow(token)
    expect([again.status, again.body.code]).toEqual([401, 'sign_in_failed'])
    expect(again.headers['set-cookie']).toBeUndefined()
    const [entry] = await auditOf('admin_session.created', body.id)
    expect(entry?.actor_email).toBe(admin.email)
    expect(entry?.text).not.toContain(tokenOf(headers))
    expect(entry?.text).not.toContain(token)
  })

  it('signs one of those in who follow it at the same time', async () => {
    const token = await newLink('demo')
    const answers = await Promise.all(Array.from({ length: 5 }, () => follow(token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401])
  })

  it('signs nobody in who is deactivated in the same moment, also once the admin is taken back', async () => {
    const admin = await newAdmin()
    const token = await newLink('demo', admin)
    const { answer } = await api.db.transaction().execute(async (tx) => {
      await tx
        .updateTable('admin_user')
        .set({ deactivated_at: new Date() })
        .where('id', '=', admin.id)
        .execute()
      const following = follow(token)
      await vi.waitFor(async () => {
        const { rows } = await sql`select from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database()`.execute(api.db)
        expect(rows).toHaveLength(1)
      })
      return { answer: following }
    })
    const { status, body } = await answer
    expect([status, body.code]).toEqual([401, 'sign_in_failed'])
    const sessions = api.db
      .selectFrom('admin_session')
      .select('id')
      .where('admin_id', '=', admin.id)
    expect(await sessions.execute()).toEqual([])
  })

  it('is refused from the second on when it expires, by the clock of the database', async () => {
    const token = await newLink('demo')
    await sql`update admin_sign_in_link set expires_at = now()`.execute(api.db)
    expect((await follow(token)).status).toBe(401)
  })

  it('ends when a newer one is made, and when the admin is removed', async () => {
    const admin = await newAdmin()
    const [first, second] = [await newLink('recovery', admin), await newLink('recovery', admin)]
    expect((await follow(first)).status).toBe(401)
    await api.runChange(ORIGIN, (change) => removeAdmin(change, admin.id))
    expect((await follow(second)).status).toBe(401)
  })

  it.each(['', 'x', 'Zm9yIGV4YW1wbGUgb25seSwgbm90IGEgcmVhbCB0b2tlbi4'])(
    'that is none (%j) says no more than one that was used',
    async (token) => {
      const { status, body } = await follow(token)
      expect([status, body.code]).toEqual(
        token === '' ? [422, 'invalid_body'] : [401, 'sign_in_failed'],
      )
    },
  )

  it('tells whom it signs in, and stays good', async () => {
    const admin = await newAdmin()
    const token = await newLink('invitation', admin)
    const { status, body } = await api.request<{ email: string }>('/console/session/link_details', {
      method: 'POST',
      key: null,
      headers: OWN_PAGE,
      payload: { token },
    })
    expect([status, body]).toMatchObject([
      200,
      { kind: 'invitation', email: admin.email, name: 'Ada Byron' },
    ])
    expect((await follow(token)).status).toBe(200)
  })

  it('of the first admin makes one with Full Access, who is asked for a name', async () => {
    const token = await newLink('first_admin')
    await sql`update admin_sign_in_link set admin_id = null where kind = 'first_admin'`.execute(
      api.db,
    )
    const unnamed = await follow(token)
    expect([unnamed.status, unnamed.body.code]).toEqual([422, 'invalid_body'])
    const odd = { token, email: 'a\0@example.com', first_name: 'Grace', last_name: 'Murray' }
    const link = { method: 'POST', key: null, headers: OWN_PAGE, payload: odd } as const
    expect((await api.request('/console/session/link', link)).status).toBe(422)
    const { status, body } = await api.request<SessionBody>('/console/session/link', {
      method: 'POST',
      key: null,
      headers: OWN_PAGE,
      payload: { token, email: 'first@example.com', first_name: 'Grace', last_name: 'Murray' },
    })
    expect([status, body.admin.access, body.setup_required]).toEqual([200, 'full', true])
    expect((await findAdminByEmail(api.db, 'first@example.com'))?.id).toBe(body.admin.id)
  })

  it('opens nothing but the session before the admin has a way to sign in', async () => {
    const { headers, body } = await follow(await newLink('recovery'))
    expect(body.setup_required).toBe(true)
    const session = { headers: { ...OWN_PAGE, cookie: toCookie(tokenOf(headers)) } }
    const read = await call('/devices', session)
    expect([read.status, read.body.code]).toEqual([403, 'sign_in_setup_required'])
    expect((await call('/console/session', session)).status).toBe(200)
  })

  it('ends the session that the browser had, and never takes one that it is given', async () => {
    const mine = await createConsoleSession(api.db)
    const { headers } = await follow(await newLink('demo'), mine.headers)
    expect(tokenOf(headers)).not.toBe(mine.token)
    expect((await call('/console/session', mine)).status).toBe(401)
    const [ended] = await auditOf('admin_session.ended', mine.id)
    expect(ended?.text).toContain(`{"admin_id": "${mine.adminId}"}`)
    const planted = 'A'.repeat(43)
    const other = await follow(await newLink('demo'), { ...OWN_PAGE, cookie: toCookie(planted) })
    expect(tokenOf(other.headers)).not.toBe(planted)
    const fixed = await call('/console/session', {
      headers: { ...OWN_PAGE, cookie: toCookie(planted) },
    })
    expect(fixed.status).toBe(401)
  })

  it('is not followed for a page of another site', async () => {
    const token = await newLink('demo')
    for (const headers of [{}, { 'sec-fetch-site': 'same-origin' }]) {
      const { status, body } = await follow(token, headers)
      expect([status, body.code]).toEqual([403, 'cross_site_request'])
    }
    expect((await follow(token)).status).toBe(200)
  })
})

describe('a session', () => {
  it('stands in place of a key, under the name of the admin', async () => {
    const session = await createConsoleSession(api.db)
    expect((await call('/devices', session)).status).toBe(200)
    const admin = await newAdmin()
    const { status } = await call(`/admin_users/${admin.id}`, session, 'PATCH', {
      first_name: 'Annabella',
    })
    expect(status).toBe(200)
    const [entry] = await auditOf('admin_user.updated', admin.id)
    expect(JSON.parse(entry?.text ?? '')).toMatchObject({
      actor_type: 'User',
      actor_id: session.adminId,
      actor_name: 'Ada Lovelace',
      actor_email: expect.stringContaining('@example.com') as string,
    })
  })

  it('is told to whoever has it: the admin, what it may do and when it ends', async () => {
    const session = await createConsoleSession(api.db, { isSteppedUp: false })
    const { body } = await call('/console/session', session)
    expect(body).toMatchObject({ id: session.id, setup_required: false, stepped_up_until: null })
    expect(body).toMatchObject({ access_level: 'full', admin: { name: 'Ada Lovelace' } })
    const inMs = (time: string) => new Date(time).getTime() - Date.now()
    expect(inMs(body.idle_ends_at) / 3_600_000).toBeCloseTo(8, 1)
    expect(inMs(body.ends_at) / 3_600_000).toBeCloseTo(24, 1)
  })

  it('is not what a key is', async () => {
    const { status, body } = await api.request<TestRefusal>('/console/session')
    expect([status, body.code]).toEqual([403, 'permission_missing'])
  })

  it('leaves a request to its key where it carries both', async () => {
    const { headers } = await createConsoleSession(api.db)
    const { body } = await api.request<TestRefusal>('/console/session', { headers })
    expect(body.code).toBe('permission_missing')
  })

  it('ends at once when the admin signs out, and the cookie is taken back', async () => {
    const session = await createConsoleSession(api.db)
    const { status, headers } = await call('/console/session', session, 'DELETE')
    expect([status, headers['set-cookie']]).toEqual([
      204,
      `${COOKIE}=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax`,
    ])
    expect((await call('/devices', session)).status).toBe(401)
    expect(await auditOf('admin_session.ended', session.id)).toHaveLength(1)
  })

  it('ends with its admin, and loses what the admin loses', async () => {
    const admin = await newAdmin()
    const session = await createConsoleSession(api.db, { adminId: admin.id })
    await api.runChange(ORIGIN, (change) => changeAdmin(change, admin.id, { access: 'limited' }))
    expect((await call('/console/session', session)).status).toBe(401)
    const removed = await newAdmin()
    const other = await createConsoleSession(api.db, { adminId: removed.id })
    await api.runChange(ORIGIN, (change) => removeAdmin(change, removed.id))
    expect((await call('/console/session', other)).status).toBe(401)
  })

  it.each([
    ['8 hours after its last use', sql`last_used_at = now() - interval '8 hours'`],
    ['24 hours after it began', sql`expires_at = now()`],
  ])('ends %s, by the clock of the database', async (_when, change) => {
    const session = await createConsoleSession(api.db)
    await sql`update admin_session set ${change} where id = ${session.id}`.execute(api.db)
    expect((await call('/devices', session)).status).toBe(401)
  })

  it('goes on while it is used, and notes it once a minute, but not what a page asks for by itself', async () => {
    const session = await createConsoleSession(api.db)
    const setUse = (age: string) =>
      sql`update admin_session set last_used_at = now() - ${age}::interval where id = ${session.id}`.execute(
        api.db,
      )
    const isFresh = async () => {
      const { rows } = await sql<{ fresh: boolean }>`
        select last_used_at > now() - interval '20 seconds' as fresh
        from admin_session where id = ${session.id}`.execute(api.db)
      return rows[0]?.fresh
    }
    await setUse('7 hours 59 minutes')
    expect((await call('/devices', session)).status).toBe(200)
    expect(await isFresh()).toBe(true)
    await setUse('40 seconds')
    await call('/devices', session)
    expect(await isFresh()).toBe(false)
    await setUse('7 hours 59 minutes')
    for (const path of ['/devices', '/console/session', '/overview']) {
      const headers = { ...session.headers, 'x-heliograph-unattended': '1' }
      expect([path, (await call(path, { headers })).status]).toEqual([path, 200])
    }
    expect(await isFresh()).toBe(false)
    await call('/console/session', session)
    expect(await isFresh()).toBe(true)
  })

  it('goes on writing while the writes of keys are switched off', async () => {
    const session = await createConsoleSession(api.db)
    const admin = await newAdmin()
    const setWrites = (isApiWritesEnabled: boolean) =>
      api.runChange(ORIGIN, (change) =>
        setOrganisation(change, { isApiWritesEnabled }, async () => undefined),
      )
    await setWrites(false)
    try {
      await expect
        .poll(async () => {
          const key = await api.createKey(['Manage Admins'])
          const url = `/admin_users/${admin.id}`
          return (await api.request(url, { key, method: 'PATCH', payload: {} })).status
        })
        .toBe(401)
      const { status } = await call(`/admin_users/${admin.id}`, session, 'PATCH', {})
      expect(status).toBe(200)
    } finally {
      await setWrites(true)
    }
  })

  it.each([
    ['another cookie', 'heliograph_session=abc'],
    ['a token of another form', `${COOKIE}=abc`],
    ['an unknown token', `${COOKIE}=${'A'.repeat(43)}`],
  ])('is needed: %s is refused', async (_what, cookie) => {
    const { status, body } = await call('/devices', { headers: { ...OWN_PAGE, cookie } })
    expect([status, body.code]).toEqual([401, 'unauthenticated'])
  })
})

describe('a request with a session', () => {
  const REFUSED: [string, Record<string, string>][] = [
    ['no proof at all', {}],
    ['no header of the console', { 'sec-fetch-site': 'same-origin' }],
    ['another value of it', { 'sec-fetch-site': 'same-origin', 'x-heliograph-console': 'yes' }],
    ['a page of another site', { 'sec-fetch-site': 'cross-site', 'x-heliograph-console': '1' }],
    ['a page of a sibling host', { 'sec-fetch-site': 'same-site', 'x-heliograph-console': '1' }],
    ['no page and no origin', { 'sec-fetch-site': 'none', 'x-heliograph-console': '1' }],
    [
      'no page and another origin',
      { 'sec-fetch-site': 'none', 'x-heliograph-console': '1', origin: 'https://evil.example' },
    ],
    [
      'an old browser and another origin',
      { 'x-heliograph-console': '1', origin: 'https://trust.example.com.evil.example' },
    ],
    [
      'a foreign page that names the own origin',
      {
        'sec-fetch-site': 'cross-site',
        'x-heliograph-console': '1',
        origin: 'https://trust.example.com',
      },
    ],
  ]
  const TAKEN: [string, Record<string, string>][] = [
    ['a page of the console', OWN_PAGE],
    [
      'an old browser on the own origin',
      { 'x-heliograph-console': '1', origin: 'https://trust.example.com' },
    ],
    [
      'no page and the own origin',
      {
        'sec-fetch-site': 'none',
        'x-heliograph-console': '1',
        origin: 'https://trust.example.com',
      },
    ],
  ]

  it.each(REFUSED)('that writes is refused with %s', async (_what, headers) => {
    const { token } = await createConsoleSession(api.db)
    const admin = await newAdmin()
    const session = { headers: { ...headers, cookie: toCookie(token) } }
    for (const method of ['PATCH', 'DELETE'] as const) {
      const { status, body } = await call(`/admin_users/${admin.id}`, session, method)
      expect([status, body.code]).toEqual([403, 'cross_site_request'])
    }
  })

  it.each(TAKEN)('that writes is taken with %s', async (_what, headers) => {
    const { token } = await createConsoleSession(api.db)
    const session = { headers: { ...headers, cookie: toCookie(token) } }
    expect((await call('/console/session', session, 'DELETE')).status).toBe(204)
  })

  it('that reads is refused to a script of another site, and shown to who follows a link', async () => {
    const { token } = await createConsoleSession(api.db)
    const read = async (headers: Record<string, string>) =>
      (await call('/devices', { headers: { ...headers, cookie: toCookie(token) } })).status
    expect(await read({ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' })).toBe(403)
    expect(await read({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).toBe(200)
    expect(await read({})).toBe(200)
  })
})
