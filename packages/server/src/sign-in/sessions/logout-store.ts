import { sql, type Kysely, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** A session whose application is to be told of its end. */
export interface DueLogout {
  readonly id: string
  readonly sid: string
  readonly personId: string
  readonly clientId: string
  readonly url: string
  /** Before this one. */
  readonly attempts: number
}

/** Takes the one that is due first, for nobody else to take before `until`; waits for none. */
export async function claimDueLogout(
  tx: Transaction<Schema>,
  at: Date,
  until: Date,
): Promise<DueLogout | undefined> {
  const { rows } = await sql<DueLogout>`
    with due as (
      select id from sign_in_granted_session where logout_due_at <= ${at}
      order by logout_due_at limit 1 for update skip locked)
    update sign_in_granted_session s
    set logout_due_at = ${until}, logout_attempts = s.logout_attempts + 1
    from due, sign_in_application a
    where s.id = due.id and a.id = s.application_id and a.backchannel_logout_uri is not null
    returning s.id, s.sid, s.person_id as "personId", a.client_id as "clientId",
      a.backchannel_logout_uri as url, s.logout_attempts - 1 as attempts`.execute(tx)
  return rows[0]
}

/** When an application is to be told again; null when it knows, or is given up. */
export async function updateLogoutDue(
  db: Kysely<Schema>,
  id: string,
  dueAt: Date | null,
): Promise<void> {
  await db
    .updateTable('sign_in_granted_session')
    .set({ logout_due_at: dueAt })
    .where('id', '=', id)
    .execute()
}

/** Forgets what is due to applications that do not want to be told any more. */
export async function clearUnwantedLogouts(db: Kysely<Schema>): Promise<void> {
  await sql`update sign_in_granted_session s set logout_due_at = null
    where s.logout_due_at is not null and not exists (
      select from sign_in_application a
      where a.id = s.application_id and a.backchannel_logout_uri is not null)`.execute(db)
}

/** When the next application is to be told. */
export async function findNextLogout(db: Kysely<Schema>): Promise<Date | undefined> {
  const row = await db
    .selectFrom('sign_in_granted_session')
    .select('logout_due_at')
    .where('logout_due_at', 'is not', null)
    .orderBy('logout_due_at')
    .limit(1)
    .executeTakeFirst()
  return row?.logout_due_at ?? undefined
}
