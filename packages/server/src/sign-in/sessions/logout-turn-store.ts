import { sql, type Kysely, type Updateable } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** The turn of one worker to tell one application. */
export interface LogoutTurn {
  readonly applicationId: string
  /** How often in a row the application did not answer. */
  readonly failures: number
  readonly heldUntil: Date
}

/** Makes the turns of applications that want to be told and have none yet. Idempotent. */
export async function insertLogoutTurns(db: Kysely<Schema>): Promise<void> {
  await sql`insert into sign_in_logout_turn (application_id)
    select a.id from sign_in_application a where a.backchannel_logout_uri is not null
      and not exists (select from sign_in_logout_turn t where t.application_id = a.id)
    on conflict do nothing`.execute(db)
}

/** Takes the turn of the free application that waits longest to be told; waits for none. */
export async function claimLogoutTurn(
  db: Kysely<Schema>,
  at: Date,
  until: Date,
): Promise<LogoutTurn | undefined> {
  const { rows } = await sql<LogoutTurn>`
    with next as (
      select t.application_id from sign_in_logout_turn t
      cross join lateral (
        select s.logout_due_at from sign_in_granted_session s
        where s.application_id = t.application_id and s.logout_due_at <= ${at}
        order by s.logout_due_at limit 1) due
      where t.free_at is null or t.free_at <= ${at}
      order by due.logout_due_at limit 1 for update of t skip locked)
    update sign_in_logout_turn t set free_at = ${until} from next
    where t.application_id = next.application_id
    returning t.application_id as "applicationId", t.failures, t.free_at as "heldUntil"`.execute(db)
  return rows[0]
}

/** Ends a turn; of one that somebody else has taken since, nothing. */
export async function updateLogoutTurn(
  db: Kysely<Schema>,
  { applicationId, heldUntil }: LogoutTurn,
  changes: Pick<Updateable<Schema['sign_in_logout_turn']>, 'free_at' | 'failures'>,
): Promise<void> {
  await db
    .updateTable('sign_in_logout_turn')
    .set(changes)
    .where('application_id', '=', applicationId)
    .where('free_at', '=', heldUntil)
    .execute()
}

/** When the next application is to be told, and free to be. */
export async function findNextLogout(db: Kysely<Schema>): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(greatest(due.logout_due_at, t.free_at)) as at from sign_in_logout_turn t
    cross join lateral (
      select s.logout_due_at from sign_in_granted_session s
      where s.application_id = t.application_id and s.logout_due_at is not null
      order by s.logout_due_at limit 1) due`.execute(db)
  return rows[0]?.at ?? undefined
}
