import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** A session whose application is to be told of its end. */
export interface DueLogout {
  readonly id: string
  readonly sid: string
  readonly personId: string
  readonly clientId: string
  readonly url: string
  readonly endedAt: Date
  /** With this one; nobody else has claimed the session while it is the same. */
  readonly attempts: number
}

/** What became of telling an application: `failure` in words for admins, `dueAt` when it is told again. */
export type LogoutResult =
  | { readonly outcome: 'told' }
  | { readonly outcome: 'given_up'; readonly failure: string }
  | { readonly outcome: null; readonly failure: string; readonly dueAt: Date }

const DUE_COLUMNS = sql`s.id, s.sid, s.person_id as "personId", a.client_id as "clientId",
  a.backchannel_logout_uri as url, s.ended_at as "endedAt", s.logout_attempts as attempts`

/** Takes what an application is to be told first, to be told again at `until` if nothing becomes of it. */
export async function claimDueLogout(
  db: Kysely<Schema>,
  applicationId: string,
  at: Date,
  until: Date,
): Promise<DueLogout | undefined> {
  const { rows } = await sql<DueLogout>`
    with due as (
      select id from sign_in_granted_session
      where application_id = ${applicationId} and logout_due_at <= ${at}
      order by logout_due_at limit 1 for update skip locked)
    update sign_in_granted_session s
    set logout_due_at = ${until}, logout_attempts = s.logout_attempts + 1
    from due, sign_in_application a
    where s.id = due.id and a.id = s.application_id and a.backchannel_logout_uri is not null
    returning ${DUE_COLUMNS}`.execute(db)
  return rows[0]
}

/** What an application is still to be told of sessions that ended before a time. */
export async function listDueLogouts(
  db: Kysely<Schema>,
  applicationId: string,
  endedBefore: Date,
  limit: number,
): Promise<DueLogout[]> {
  const { rows } = await sql<DueLogout>`
    select ${DUE_COLUMNS} from sign_in_granted_session s
    join sign_in_application a on a.id = s.application_id
    where s.application_id = ${applicationId} and s.logout_due_at is not null
      and s.ended_at < ${endedBefore}
    order by s.logout_due_at limit ${limit}`.execute(db)
  return rows
}

/** Records what became of a claimed one; false when it was claimed again since, which says more. */
export async function updateLogout(
  db: Kysely<Schema>,
  { id, attempts }: DueLogout,
  result: LogoutResult,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('sign_in_granted_session')
    .set({
      logout_due_at: result.outcome === null ? result.dueAt : null,
      logout_outcome: result.outcome,
      logout_failure: result.outcome === 'told' ? null : result.failure,
    })
    .where('id', '=', id)
    .where('logout_attempts', '=', attempts)
    .where('logout_due_at', 'is not', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Forgets what is due to applications that do not want to be told any more. */
export async function clearUnwantedLogouts(db: Kysely<Schema>): Promise<void> {
  await sql`update sign_in_granted_session s set logout_due_at = null
    where s.logout_due_at is not null and not exists (
      select from sign_in_application a
      where a.id = s.application_id and a.backchannel_logout_uri is not null)`.execute(db)
}
