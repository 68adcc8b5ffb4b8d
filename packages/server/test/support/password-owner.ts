/* Admins with a password and an authenticator app, for tests of signing in. */
import { sql } from 'kysely'
import { findAdminById } from '../../src/organisation/admins/find-admin.ts'
import type { TestRefusal } from './api-app.ts'
import { AuthenticatorApp } from './authenticator-app.ts'
import type { ServiceApi } from './composed-api.ts'
import {
  createConsoleSession,
  OWN_PAGE,
  toCookie,
  type TestSession,
  type TestSessionOptions,
} from './console-session.ts'

export const PASSWORD = 'twelve violet lanterns adrift'
export const OTHER_PASSWORD = 'seven copper teapots humming'
export const OWN_PASSWORD_PATH = '/console/session/own_password'
export const PASSWORD_PATH = '/console/session/password'
export const STEP_UP_CODE_PATH = '/console/session/step_up_code'

export interface SessionBody extends TestRefusal {
  readonly id: string
  readonly admin: { readonly id: string }
  readonly method: string
  readonly setup_required: boolean
  readonly stepped_up_until: string | null
}

interface Offer {
  readonly key: string
  readonly uri: string
  readonly proof: string
}

/** A session of a browser: what its pages send. */
type Browser = Pick<TestSession, 'headers'>

export interface PasswordOwner {
  readonly session: TestSession
  readonly email: string
  readonly app: AuthenticatorApp
  readonly key: string
}

/** What somebody types who signs in. */
export interface PasswordAttempt {
  readonly email: string
  readonly password: string
  readonly code: string
}

export const headersOf = (token: string) => ({ ...OWN_PAGE, cookie: toCookie(token) })

/** The token in the cookie that an answer sets. */
export function tokenOf(headers: Readonly<Record<string, unknown>>): string {
  const [cookie = ''] = [headers['set-cookie']].flat() as string[]
  return /^__Host-heliograph_session=([\w-]{43});/.exec(cookie)?.[1] ?? ''
}

export const attemptOf = (
  { email, app }: Pick<PasswordOwner, 'email' | 'app'>,
  changes: Partial<PasswordAttempt> = {},
): PasswordAttempt => ({ ...{ email, password: PASSWORD, code: app.code() }, ...changes })

/** What browsers ask a service about passwords. */
export function createPasswordClient(api: ServiceApi) {
  const send = async <Body = SessionBody>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    headers: Readonly<Record<string, string>>,
    payload?: object,
  ) =>
    api.request<Body>(url, {
      key: null,
      method,
      headers,
      ...(payload === undefined ? {} : { payload }),
    })
  const offer = async ({ headers }: Browser) =>
    (await send<Offer>('POST', `${OWN_PASSWORD_PATH}/options`, headers)).body
  const setUp = async ({ headers }: Browser, body: object) =>
    send('POST', OWN_PASSWORD_PATH, headers, body)
  return {
    ...{ send, offer, setUp },
    /** An admin who is signed in and has a password, and whose app shows a code that was not used. */
    newOwner: async (options: TestSessionOptions = {}): Promise<PasswordOwner> => {
      const session = await createConsoleSession(api.db, options)
      const { key, proof } = await offer(session)
      const app = new AuthenticatorApp(key, api.clock)
      const { headers } = await setUp(session, {
        ...{ password: PASSWORD, key, proof, code: app.code() },
      })
      api.clock.advance(60_000)
      const token = tokenOf(headers)
      const { email = '' } = (await findAdminById(api.db, session.adminId)) ?? {}
      return { session: { ...session, token, headers: headersOf(token) }, email, app, key }
    },
    signIn: async (attempt: PasswordAttempt, headers: Record<string, string> = OWN_PAGE) =>
      send('POST', PASSWORD_PATH, headers, attempt),
    isOpen: async ({ headers }: Browser) =>
      (await send('GET', '/console/session', headers)).status === 200,
    /** The entries of the audit log of an action about an admin; of null, about nobody. */
    auditOf: async (action: string, adminId: string | null) => {
      const { rows } = await sql<{ description: string; after: object; actor_name: string }>`
        select description, after, actor_name from audit_entry
        where action = ${action} and target_id is not distinct from ${adminId}
        order by sequence`.execute(api.db)
      return rows
    },
    storedOf: async (adminId: string) =>
      api.db
        .selectFrom('admin_password')
        .selectAll()
        .where('admin_id', '=', adminId)
        .executeTakeFirstOrThrow(),
    /** So that tests do not wait for each other's attempts. */
    forgetAttempts: async () => {
      await sql`delete from rate_limit_slot`.execute(api.db)
      await sql`delete from rate_limit`.execute(api.db)
    },
  }
}
