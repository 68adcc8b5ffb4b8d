import { sql, type Kysely, type Selectable } from 'kysely'
import { timeInMs } from '../../platform/db/database-time.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { readPage, type PageWindow } from '../../platform/db/page.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Admin } from '../admins/find-admin.ts'
import type { DeviceProblem, DeviceTrust } from './device-trust.ts'

/** Nobody used it for so long. */
export const SESSION_IDLE_MS = 8 * HOUR_MS
/** However much it is used. */
export const SESSION_LIFETIME_MS = 24 * HOUR_MS
/** For as long as an admin may take to set a way to sign in up. */
const SET_UP_LIFETIME_MS = HOUR_MS
/** For how long a step-up opens what asks for one. */
export const STEP_UP_MS = 5 * MINUTE_MS
/** Requests that were sent before the browser had the new token. */
const ROTATION_GRACE_MS = 30 * SECOND_MS
/** A use is written down this much later at the most. */
const USE_INTERVAL_MS = MINUTE_MS

const sessionTable = defineTable('admin_session')

export type AdminSession = RecordOf<typeof sessionTable>
export type SignInMethod = AdminSession['method']

/** Where a browser is, as a session keeps it. */
export interface BrowserFacts {
  readonly userAgent: string | null
  readonly ipAddress: string | null
}

interface NewSession extends BrowserFacts {
  readonly adminId: string
  readonly tokenHash: Buffer
  readonly method: SignInMethod
  readonly isSetupPending: boolean
  /** Whether the admin has just shown that it is there. */
  readonly isSteppedUp: boolean
}

/** The admin of a session. */
export interface SessionAdmin {
  readonly id: string
  readonly firstName: string
  readonly lastName: string
  readonly email: string
  readonly access: Admin['access']
  /** Empty unless the access is limited. */
  readonly restrictions: readonly string[]
}

/** A session that has not ended, with its admin. */
export interface LiveSession extends Omit<AdminSession, 'tokenHash' | 'previousTokenHash'> {
  readonly admin: SessionAdmin
  /** Null once a step-up is needed again. */
  readonly steppedUpAt: Date | null
  readonly isUseDue: boolean
  readonly idleEndsAt: Date
  /** Whether the organisation asks its admins for a trusted device. */
  readonly isDeviceRequired: boolean
  /** What is wrong with the device of the session; null where it is trusted, undefined where it was not looked at. */
  readonly deviceProblem: DeviceProblem | null | undefined
}

export async function insertSession(
  db: Kysely<Schema>,
  { isSteppedUp, ...session }: NewSession,
): Promise<AdminSession> {
  const row = await db
    .insertInto('admin_session')
    .values({
      admin_id: session.adminId,
      token_hash: session.tokenHash,
      method: session.method,
      is_setup_pending: session.isSetupPending,
      user_agent: session.userAgent,
      ip_address: session.ipAddress,
      expires_at: timeInMs(session.isSetupPending ? SET_UP_LIFETIME_MS : SESSION_LIFETIME_MS),
      stepped_up_at: isSteppedUp ? sql<Date>`now()` : null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return sessionTable.fromRow(row)
}

/**
 * The session of a token, unless it has ended by the database's clock. For some seconds after a step-up also
 * that of the token before, which opens nothing that asks for a step-up. Its device is looked at where `deviceTrust` is
 * given.
 */
export async function findLiveSession(
  db: Kysely<Schema>,
  tokenHash: Buffer,
  deviceTrust: DeviceTrust | undefined,
): Promise<LiveSession | undefined> {
  const { rows } = await sql<SessionRow>`
    select session.id, method, is_setup_pending, user_agent, ip_address, session.created_at,
      last_used_at, expires_at, rotated_at, granted_session_id, admin_id, first_name, last_name, email, access,
      case when access = 'limited' then restrictions else '{}' end as restrictions,
      case when token_hash <> ${tokenHash} then null
        -- The demo has no passkey to ask for.
        when method = 'demo' then now()
        when stepped_up_at > ${timeInMs(-STEP_UP_MS)} then stepped_up_at end as stepped_up_at,
      last_used_at < ${timeInMs(-USE_INTERVAL_MS)} as is_use_due,
      least(last_used_at + ${SESSION_IDLE_MS}::float8 * interval '1 millisecond', expires_at)
        as idle_ends_at,
      (select admins_require_trusted_device from organisation) as is_device_required,
      ${deviceTrust?.problem() ?? sql`null`} as device_problem
    from admin_session session join admin_user on admin_user.id = admin_id
      and deactivated_at is null
    where (token_hash = ${tokenHash}
        or (previous_token_hash = ${tokenHash} and rotated_at > ${timeInMs(-ROTATION_GRACE_MS)}))
      and expires_at > now() and last_used_at > ${timeInMs(-SESSION_IDLE_MS)}`.execute(db)
  const [row] = rows
  return row && { ...toLiveSession(row), deviceProblem: deviceTrust && row.device_problem }
}

interface SessionRow extends Omit<
  Selectable<Schema['admin_session']>,
  'token_hash' | 'previous_token_hash'
> {
  readonly first_name: string
  readonly last_name: string
  readonly email: string
  readonly access: Admin['access']
  readonly restrictions: readonly string[]
  readonly is_use_due: boolean
  readonly idle_ends_at: Date
  readonly is_device_required: boolean
  readonly device_problem: DeviceProblem | null
}

function toLiveSession(row: SessionRow): Omit<LiveSession, 'deviceProblem'> {
  return {
    id: row.id,
    adminId: row.admin_id,
    method: row.method,
    isSetupPending: row.is_setup_pending,
    userAgent: row.user_agent,
    ipAddress: row.ip_address,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    rotatedAt: row.rotated_at,
    steppedUpAt: row.stepped_up_at,
    isUseDue: row.is_use_due,
    idleEndsAt: row.idle_ends_at,
    grantedSessionId: row.granted_session_id,
    isDeviceRequired: row.is_device_required,
    admin: {
      id: row.admin_id,
      firstName: row.first_name,
      lastName: row.last_name,
      email: row.email,
      access: row.access,
      restrictions: row.restrictions,
    },
  }
}

/** Notes that an admin has signed in. */
export async function updateLastSignIn(db: Kysely<Schema>, adminId: string): Promise<void> {
  await db
    .updateTable('admin_user')
    .set({ last_sign_in_at: sql<Date>`now()` })
    .where('id', '=', adminId)
    .execute()
}

/** Notes that a session is used. */
export async function updateSessionUse(db: Kysely<Schema>, id: string): Promise<void> {
  await db
    .updateTable('admin_session')
    .set({ last_used_at: sql<Date>`now()` })
    .where('id', '=', id)
    .execute()
}

/**
 * Gives a session another token, steps it up and ends its set-up, whereby it lives as long as any other. The token
 * before is taken for some seconds, for what is under way. Answers whether the session was there.
 */
export async function rotateSession(
  db: Kysely<Schema>,
  id: string,
  tokenHash: Buffer,
): Promise<boolean> {
  const row = await db
    .updateTable('admin_session')
    .set((eb) => ({
      previous_token_hash: eb.ref('token_hash'),
      token_hash: tokenHash,
      rotated_at: sql<Date>`now()`,
      last_used_at: sql<Date>`now()`,
      stepped_up_at: sql<Date>`now()`,
      expires_at: sql<Date>`case when is_setup_pending
        then created_at + ${SESSION_LIFETIME_MS}::float8 * interval '1 millisecond'
        else expires_at end`,
      is_setup_pending: false,
    }))
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Binds a session to what the proof of its device granted, and gives it another token; the token before, which must be
 * the present one, opens nothing from then on. Answers whether that was so.
 */
export async function updateSessionDevice(
  db: Kysely<Schema>,
  tokens: { readonly present: Buffer; readonly next: Buffer },
  grantedSessionId: string,
): Promise<boolean> {
  const row = await db
    .updateTable('admin_session')
    .set({
      previous_token_hash: null,
      token_hash: tokens.next,
      rotated_at: sql<Date>`now()`,
      last_used_at: sql<Date>`now()`,
      granted_session_id: grantedSessionId,
    })
    .where('token_hash', '=', tokens.present)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** What is wrong with the device of a session; `unbound` also where the session has ended, null where it is trusted. */
export async function findDeviceProblem(
  db: Kysely<Schema>,
  id: string,
  deviceTrust: DeviceTrust,
): Promise<DeviceProblem | null> {
  const { rows } = await sql<{ problem: DeviceProblem | null }>`
    select ${deviceTrust.problem()} as problem
    from admin_session session join admin_user on admin_user.id = admin_id
    where session.id = ${id}`.execute(db)
  const [row = { problem: 'unbound' as const }] = rows
  return row.problem
}

/** A session with whose it is, as lists show it. */
export interface ListedSession extends Pick<
  AdminSession,
  'id' | 'adminId' | 'method' | 'userAgent' | 'ipAddress' | 'createdAt' | 'lastUsedAt' | 'expiresAt'
> {
  readonly adminEmail: string
}

/** The sessions that have not ended, of one admin or of all, by ascending id. */
export async function listSessions(
  db: Kysely<Schema>,
  window: PageWindow,
  adminId?: string,
): Promise<ListedSession[]> {
  const query = db
    .selectFrom('admin_session')
    .innerJoin('admin_user', 'admin_user.id', 'admin_session.admin_id')
    .select([
      'admin_session.id',
      'admin_id as adminId',
      'email as adminEmail',
      'method',
      'user_agent as userAgent',
      'ip_address as ipAddress',
      'admin_session.created_at as createdAt',
      'last_used_at as lastUsedAt',
      'expires_at as expiresAt',
    ])
    .where(sql<boolean>`expires_at > now() and last_used_at > ${timeInMs(-SESSION_IDLE_MS)}`)
    .$if(adminId !== undefined, (some) => some.where('admin_id', '=', adminId ?? ''))
  return readPage(query, 'admin_session.id', window)
}

/** Ends a session, of this admin where one is named; undefined when there is none with this id. */
export async function deleteListedSession(
  db: Kysely<Schema>,
  id: string,
  adminId?: string,
): Promise<AdminSession | undefined> {
  const row = await db
    .deleteFrom('admin_session')
    .where('id', '=', id)
    .$if(adminId !== undefined, (some) => some.where('admin_id', '=', adminId ?? ''))
    .returningAll()
    .executeTakeFirst()
  return row && sessionTable.fromRow(row)
}

/** Ends a session: the next request with it is refused in every process. */
export async function deleteSession(db: Kysely<Schema>, id: string): Promise<void> {
  await sessionTable.delete(db, { id })
}

/** Ends the sessions of an admin. */
export async function deleteSessionsOf(db: Kysely<Schema>, adminId: string): Promise<void> {
  await sessionTable.delete(db, { adminId })
}

/** Ends the sessions of an admin but this one. */
export async function deleteOtherSessions(
  db: Kysely<Schema>,
  { id, adminId }: Pick<AdminSession, 'id' | 'adminId'>,
): Promise<void> {
  await db
    .deleteFrom('admin_session')
    .where('admin_id', '=', adminId)
    .where('id', '<>', id)
    .execute()
}

/** Ends the sessions of an admin in which it is still to set a way to sign in up, but this one. */
export async function deleteSetUpSessions(
  db: Kysely<Schema>,
  { adminId, exceptId }: { readonly adminId: string; readonly exceptId?: string },
): Promise<void> {
  await db
    .deleteFrom('admin_session')
    .where('admin_id', '=', adminId)
    .where('is_setup_pending', '=', true)
    .$if(exceptId !== undefined, (some) => some.where('id', '<>', exceptId ?? ''))
    .execute()
}

/** Ends the sessions of admins with Full Access in which they are still to set a way to sign in up, but this one. */
export async function deleteFullSetUpSessions(
  db: Kysely<Schema>,
  exceptId?: string,
): Promise<void> {
  await db
    .deleteFrom('admin_session')
    .where('is_setup_pending', '=', true)
    .where('admin_id', 'in', (eb) =>
      eb.selectFrom('admin_user').select('id').where('access', '=', 'full'),
    )
    .$if(exceptId !== undefined, (some) => some.where('id', '<>', exceptId ?? ''))
    .execute()
}

/** Ends the session whose token it is, or was before the last step-up; undefined when there is none. */
export async function deleteSessionOfToken(
  db: Kysely<Schema>,
  tokenHash: Buffer,
): Promise<Pick<AdminSession, 'id' | 'adminId'> | undefined> {
  return db
    .deleteFrom('admin_session')
    .where((eb) =>
      eb.or([eb('token_hash', '=', tokenHash), eb('previous_token_hash', '=', tokenHash)]),
    )
    .returning(['id', 'admin_id as adminId'])
    .executeTakeFirst()
}
