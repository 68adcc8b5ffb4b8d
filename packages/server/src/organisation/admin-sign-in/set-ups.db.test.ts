import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BASE_URL, type TestRefusal } from '../../../test/support/api-app.ts'
import { createServiceApi, type ServiceApi } from '../../../test/support/composed-api.ts'
import { createConsoleSession, OWN_PAGE, toCookie } from '../../../test/support/console-session.ts'
import { SoftwareAuthenticator } from '../../../test/support/software-authenticator.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { findAdminById, type Admin } from '../admins/find-admin.ts'
import { issueFirstAdminLink, issueLink } from './sign-in-link.ts'

type Headers = Readonly<Record<string, string>>
interface Body extends TestRefusal {
  readonly challenge: string
  readonly user: { readonly id: string }
  readonly ends_at: string
}

const ORIGIN = { actor: SYSTEM_ACTOR }
const SESSION = '/console/session'

let api: ServiceApi
beforeAll(async () => {
  api = await createServiceApi()
})
beforeEach(async () => {
  await sql`delete from rate_limit_slot`.execute(api.db)
  await sql`delete from rate_limit`.execute(api.db)
})
afterAll(() => api.close())

const post = (url: string, headers: Headers, payload?: object) =>
  api.request<Body>(url, { key: null, method: 'POST', headers, ...(payload && { payload }) })

const show = (headers: Headers) => api.request<Body>(SESSION, { key: null, headers })

const newHeaders = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) => {
  const [cookie = ''] = [headers['set-cookie']].flat() as string[]
  return { ...OWN_PAGE, cookie: toCookie(/=([\w-]{43});/.exec(cookie)?.[1] ?? '') }
}

async function newAdmin(): Promise<Admin> {
  const { adminId } = await createConsoleSession(api.db)
  const admin = await findAdminById(api.db, adminId)
  if (admin === undefined) throw new Error('no admin')
  return admin
}

const recover = async (admin: Admin) =>
  (await api.runChange(ORIGIN, (change) => issueLink(change, admin, 'recovery'))).token

/** Follows a link and answers the headers of the session that it begins. */
async function follow(token: string, names: object = {}): Promise<Headers> {
  const answer = await post(`${SESSION}/link`, OWN_PAGE, { token, ...names })
  expect(answer.status).toBe(200)
  return newHeaders(answer)
}

/** Adds a passkey in a session; answers the status and the headers of the session from then on. */
async function addPasskey(headers: Headers): Promise<{ status: number; headers: Headers }> {
  const options = await post(`${SESSION}/passkeys/options`, headers)
  if (options.status !== 200) return { status: options.status, headers }
  const credential = new SoftwareAuthenticator(BASE_URL).register(options.body)
  const answer = await post(`${SESSION}/passkeys`, headers, { name: 'Key', credential })
  return { status: answer.status, headers: newHeaders(answer) }
}

describe('the set-up after a one-time link', () => {
  it('ends when a newer link is made: whoever took the first one gets nowhere', async () => {
    const admin = await newAdmin()
    const thief = await follow(await recover(admin))
    const own = await follow(await recover(admin))
    expect((await addPasskey(thief)).status).toBe(401)
    expect((await addPasskey(own)).status).toBe(200)
  })

  it('ends, as other links do, when its admin gets a way to sign in elsewhere', async () => {
    const admin = await newAdmin()
    const thief = await follow(await recover(admin))
    const signedIn = await createConsoleSession(api.db, { adminId: admin.id })
    const { status, headers } = await addPasskey(signedIn.headers)
    expect([status, (await addPasskey(thief)).status]).toEqual([200, 401])
    const token = await recover(admin)
    expect((await addPasskey(headers)).status).toBe(200)
    expect((await post(`${SESSION}/link`, OWN_PAGE, { token })).status).toBe(401)
  })

  it('lasts an hour, and as long as any other session once there is a way to sign in', async () => {
    const headers = await follow(await recover(await newAdmin()))
    const hoursLeft = async (own: Headers) =>
      (new Date((await show(own)).body.ends_at).getTime() - Date.now()) / 3_600_000
    expect(await hoursLeft(headers)).toBeCloseTo(1, 1)
    expect(await hoursLeft((await addPasskey(headers)).headers)).toBeCloseTo(24, 1)
  })
})

describe('the set-up of the first admin', () => {
  const someone = (name: string) => ({
    email: `${name}@example.com`,
    first_name: name,
    last_name: 'Byron',
  })
  const firstLink = async () => (await api.runChange(ORIGIN, issueFirstAdminLink))?.token ?? ''

  beforeEach(async () => {
    await sql`delete from admin_passkey`.execute(api.db)
  })

  it('ends, as its link does, with the next start of the service', async () => {
    const thief = await follow(await firstLink(), someone('mallory'))
    const second = await firstLink()
    const third = await firstLink()
    expect((await addPasskey(thief)).status).toBe(401)
    const refused = await post(`${SESSION}/link`, OWN_PAGE, { token: second, ...someone('ada') })
    expect(refused.status).toBe(401)
    expect((await addPasskey(await follow(third, someone('ada')))).status).toBe(200)
  })

  it('is completed by one of several', async () => {
    const tokens = [await firstLink(), await firstLink()]
    // Both links are good, as where two processes have made one each at the same time.
    await sql`insert into admin_sign_in_link (kind, token_hash, expires_at)
      select 'first_admin', sha256(${tokens[0]}::text::bytea), now() + interval '1 day'`.execute(
      api.db,
    )
    const names = ['grace', 'eve']
    const followed = await Promise.all(
      tokens.map((token, index) => follow(token, someone(names[index] ?? ''))),
    )
    const added = await Promise.all(followed.map(addPasskey))
    expect(added.map(({ status }) => status).sort()).toEqual([200, 401])
    const { rows } = await sql`select from admin_passkey`.execute(api.db)
    expect(rows).toHaveLength(1)
  })

  it('leaves the set-up of who was invited since alone', async () => {
    const boss = await addPasskey(await follow(await firstLink(), someone('boss')))
    const invited = await follow(await recover(await newAdmin()))
    expect((await addPasskey(boss.headers)).status).toBe(200)
    expect((await addPasskey(invited)).status).toBe(200)
  })
})
