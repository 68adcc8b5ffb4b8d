/* Sessions of admins for tests of what the console calls. */
import type { Kysely } from 'kysely'
import { insertAdmin } from '../../src/organisation/admins/admin-store.ts'
import type { AdminAccess } from '../../src/organisation/admins/create-admin.ts'
import { insertSession } from '../../src/organisation/admin-sign-in/admin-session-store.ts'
import { toConsoleSite } from '../../src/organisation/admin-sign-in/console-site.ts'
import { digestOf } from '../../src/organisation/admin-sign-in/sign-in.ts'
import { newSignInToken } from '../../src/organisation/admin-sign-in/sign-in-token.ts'
import { newSecret } from '../../src/platform/ids.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { BASE_URL } from './api-app.ts'

/** What a page of the console sends beside the cookie. */
export const OWN_PAGE = { 'sec-fetch-site': 'same-origin', 'x-heliograph-console': '1' } as const

export interface TestSession {
  readonly id: string
  readonly adminId: string
  readonly token: string
  /** Of a request by a page of the console. */
  readonly headers: Readonly<Record<string, string>>
}

export interface TestSessionOptions {
  readonly access?: AdminAccess
  readonly restrictions?: readonly string[]
  readonly isSteppedUp?: boolean
  readonly isSetupPending?: boolean
  /** Of an admin who exists; a new one when it is left out. */
  readonly adminId?: string
}

/** The `Cookie` header of a session of a service under {@link BASE_URL}. */
export function toCookie(token: string): string {
  return `${toConsoleSite(BASE_URL).cookie.name}=${token}`
}

/** A session of a new admin, who has just signed in by a passkey. */
export async function createConsoleSession(
  db: Kysely<Schema>,
  options: TestSessionOptions = {},
): Promise<TestSession> {
  const { access = 'full', restrictions = [], isSteppedUp = true, isSetupPending = false } = options
  const adminId = options.adminId ?? (await insertTestAdmin(db, access, restrictions))
  const token = newSignInToken()
  const { id } = await insertSession(db, {
    adminId,
    tokenHash: digestOf(token),
    method: 'passkey',
    isSetupPending,
    isSteppedUp,
    userAgent: 'a test',
    ipAddress: '127.0.0.1',
  })
  return { id, adminId, token, headers: { ...OWN_PAGE, cookie: toCookie(token) } }
}

async function insertTestAdmin(
  db: Kysely<Schema>,
  access: AdminAccess,
  restrictions: readonly string[],
): Promise<string> {
  const at = new Date('2026-01-01')
  const { id } = await insertAdmin(db, {
    email: `${newSecret(6)}@example.com`.toLowerCase(),
    firstName: 'Ada',
    lastName: 'Lovelace',
    access,
    restrictions: [...restrictions],
    createdAt: at,
    updatedAt: at,
  })
  return id
}
