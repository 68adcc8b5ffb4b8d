import { sql, type Kysely, type Transaction } from 'kysely'
import { findRecord } from '../../platform/db/record-table.ts'
import type { Schema } from '../../schema/schema.ts'
import type { AuthLogRecord } from './auth-log-read.ts'
import { rowsOf } from '../../schema/row-store.ts'

const sessions = rowsOf('auth_log_session', 'auth log')

/** The channel that tells the worker of a new time at which a sign-in counts as abandoned. */
export const SIGN_IN_CHANNEL = 'sign_in'

export const insertSession = sessions.insert

/**
 * The session, locked until the transaction ends.
 *
 * @throws AppError `not_found`
 */
export const getSessionForUpdate = sessions.getForUpdate

export const updateSession = sessions.update

/** Whether the service itself leads a sign-in. */
export async function isLedHere(tx: Transaction<Schema>, id: string): Promise<boolean> {
  const attempt = await tx
    .selectFrom('sign_in_attempt')
    .select('id')
    .where('auth_log_session_id', '=', id)
    .limit(1)
    .executeTakeFirst()
  return attempt !== undefined
}

/** Locks the session that was abandoned first; waits for none. */
export async function claimAbandonedSession(
  tx: Transaction<Schema>,
  at: Date,
): Promise<AuthLogRecord | undefined> {
  return findRecord(
    tx
      .selectFrom('auth_log_session')
      .selectAll()
      .where('expires_at', '<=', at)
      .orderBy('expires_at')
      .limit(1)
      .forUpdate()
      .skipLocked(),
  )
}

/** When the next sign-in under way is abandoned unless it goes on. */
export async function findNextExpiry(db: Kysely<Schema>): Promise<Date | undefined> {
  return sessions.findEarliest(db, 'expires_at')
}

/** The device that a sign-in is made from. */
export interface SignInDevice {
  readonly id: string
  readonly name: string
  readonly authState: string
}

export async function findSignInDevice(
  tx: Transaction<Schema>,
  id: string,
): Promise<SignInDevice | undefined> {
  return tx
    .selectFrom('device')
    .select(['id', 'name', 'auth_state as authState'])
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Notes on device and person that they have been let in. */
export async function recordAuthentication(
  tx: Transaction<Schema>,
  { deviceId, personId }: { readonly deviceId: string | null; readonly personId: string | null },
  at: Date,
): Promise<void> {
  await sql`update device set last_authenticated_at = greatest(last_authenticated_at, ${at}::timestamptz),
    updated_at = ${at} where id = ${deviceId}`.execute(tx)
  await sql`update person set last_authenticated_at = greatest(last_authenticated_at, ${at}::timestamptz),
    updated_at = ${at} where id = ${personId}`.execute(tx)
}
