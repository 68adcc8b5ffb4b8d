import {
  sql,
  type Insertable,
  type Kysely,
  type SqlBool,
  type Transaction,
  type Updateable,
} from 'kysely'
import { notFound } from '../../platform/app-error.ts'
import { afterKey, type PageWindow } from '../../platform/db/page.ts'
import { isUuid } from '../../platform/ids.ts'
import type { CamelCased } from '../../platform/db/record-table.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const sessionTable = defineTable('sign_in_granted_session')

/** What somebody was granted who signed in here. */
export type GrantedSession = RecordOf<typeof sessionTable>

export async function insertGrantedSession(
  tx: Transaction<Schema>,
  session: CamelCased<Insertable<Schema['sign_in_granted_session']>>,
): Promise<GrantedSession> {
  return sessionTable.insert(tx, session)
}

export async function findGrantedSession(
  db: Kysely<Schema>,
  by: Partial<Pick<GrantedSession, 'id' | 'sid' | 'cookieHash' | 'attemptId'>>,
): Promise<GrantedSession | undefined> {
  return sessionTable.find(db, by)
}

export async function updateGrantedSession(
  db: Kysely<Schema>,
  id: string,
  changes: CamelCased<Updateable<Schema['sign_in_granted_session']>>,
): Promise<GrantedSession> {
  return sessionTable.update(db, { id }, changes)
}

/** The channel that tells the worker when applications are to be told of ends. */
export const LOGOUT_CHANNEL = 'heliograph_logout'

/** Whose sessions. */
export type SessionsBy =
  | { readonly deviceIds: readonly string[] }
  | { readonly personId: string }
  | { readonly applicationId: string }

/** Locks the live sessions of devices, a person or an application, by ascending id. */
export async function listLiveSessionsForUpdate(
  tx: Transaction<Schema>,
  by: SessionsBy,
  at: Date,
): Promise<GrantedSession[]> {
  const whose =
    'deviceIds' in by
      ? sql<SqlBool>`device_id = any(${by.deviceIds}::bigint[])`
      : 'personId' in by
        ? sql<SqlBool>`person_id = ${by.personId}`
        : sql<SqlBool>`application_id = ${by.applicationId}`
  const rows = await tx
    .selectFrom('sign_in_granted_session')
    .selectAll()
    .where(whose)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', at)
    .orderBy('id')
    .forUpdate()
    .execute()
  return rows.map((row) => sessionTable.fromRow(row))
}

/**
 * A session, locked until the transaction ends.
 *
 * @throws AppError `not_found`
 */
export async function getGrantedSessionForUpdate(
  tx: Transaction<Schema>,
  id: string,
): Promise<GrantedSession> {
  const session = isUuid(id) ? await sessionTable.find(tx, { id }, { isLocked: true }) : undefined
  if (session === undefined) throw notFound('session', id)
  return session
}

/** The live session that an application knows by a `sid`, locked until the transaction ends. */
export async function findLiveSessionBySid(
  tx: Transaction<Schema>,
  clientId: string,
  sid: string,
  at: Date,
): Promise<Pick<GrantedSession, 'id'> | undefined> {
  return tx
    .selectFrom('sign_in_granted_session as s')
    .innerJoin('sign_in_application as a', 'a.id', 's.application_id')
    .select('s.id')
    .where('s.sid', '=', sid)
    .where('a.client_id', '=', clientId)
    .where('s.ended_at', 'is', null)
    .where('s.expires_at', '>', at)
    .forUpdate('s')
    .executeTakeFirst()
}

/** What is told of a session that has ended. */
export interface EndedSession {
  readonly id: string
  readonly sid: string
  readonly applicationId: string | null
  readonly personId: string
  readonly personEmail: string
  readonly deviceId: string | null
  /** Whether its application wants to be told. */
  readonly isLogoutDue: boolean
}

/** Ends locked sessions; those whose application wants to be told are due to be. */
export async function updateSessionsEnded(
  tx: Transaction<Schema>,
  ids: readonly string[],
  reason: GrantedSession['endReason'],
  at: Date,
): Promise<EndedSession[]> {
  const { rows } = await sql<EndedSession>`
    update sign_in_granted_session s set ended_at = ${at}, end_reason = ${reason},
      logout_due_at = (select ${at}::timestamptz from sign_in_application a
        where a.id = s.application_id and a.backchannel_logout_uri is not null)
    from person p
    where s.id = any(${ids}::uuid[]) and p.id = s.person_id
    returning s.id, s.sid, s.application_id as "applicationId", s.person_id as "personId",
      p.email as "personEmail", s.device_id as "deviceId",
      s.logout_due_at is not null as "isLogoutDue"`.execute(tx)
  return rows
}

/** A session as lists show it. */
export interface ListedSession extends GrantedSession {
  readonly applicationName: string | null
  readonly personEmail: string
  readonly deviceName: string | null
}

/** Which sessions a list shows. */
export interface SessionFilters {
  readonly personId?: string | undefined
  readonly deviceId?: string | undefined
  readonly applicationId?: string | undefined
  /** Those that are live at this time. */
  readonly liveAt?: Date | undefined
}

export async function listGrantedSessions(
  db: Kysely<Schema>,
  { personId, deviceId, applicationId, liveAt }: SessionFilters,
  window: PageWindow,
): Promise<ListedSession[]> {
  const conditions = [
    ...(personId === undefined ? [] : [sql<SqlBool>`s.person_id = ${personId}`]),
    ...(deviceId === undefined ? [] : [sql<SqlBool>`s.device_id = ${deviceId}`]),
    ...(applicationId === undefined ? [] : [sql<SqlBool>`s.application_id = ${applicationId}`]),
    ...(liveAt === undefined
      ? []
      : [sql<SqlBool>`s.ended_at is null and s.expires_at > ${liveAt}`]),
    afterKey(sql.ref('s.id'), window),
  ]
  const rows = await db
    .selectFrom('sign_in_granted_session as s')
    .leftJoin('sign_in_application as a', 'a.id', 's.application_id')
    .innerJoin('person as p', 'p.id', 's.person_id')
    .leftJoin('device as d', 'd.id', 's.device_id')
    .selectAll('s')
    .select(['a.name as application_name', 'p.email as person_email', 'd.name as device_name'])
    .where(sql<SqlBool>`${sql.join(conditions, sql` and `)}`)
    .orderBy('s.id')
    .limit(window.limit)
    .execute()
  return rows.map((row) => sessionTable.fromRow(row) as unknown as ListedSession)
}
