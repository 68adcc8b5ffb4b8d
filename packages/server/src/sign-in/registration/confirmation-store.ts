import { sql, type Insertable, type Kysely, type Transaction, type Updateable } from 'kysely'
import { notFound } from '../../platform/app-error.ts'
import type { CamelCased } from '../../platform/db/record-table.ts'
import { afterKey, type PageWindow } from '../../platform/db/page.ts'
import { isUuid } from '../../platform/ids.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const confirmationTable = defineTable('device_confirmation')

/** What somebody else must confirm before a sign-in goes on. */
export type Confirmation = RecordOf<typeof confirmationTable>

/** Adds a confirmation that is waited for, in the place of an earlier one of the attempt. */
export async function insertConfirmation(
  tx: Transaction<Schema>,
  confirmation: CamelCased<Insertable<Schema['device_confirmation']>>,
): Promise<Confirmation> {
  await confirmationTable.delete(tx, { attemptId: confirmation.attemptId })
  return confirmationTable.insert(tx, confirmation)
}

export async function findConfirmationOfAttempt(
  db: Kysely<Schema>,
  attemptId: string,
): Promise<Confirmation | undefined> {
  return confirmationTable.find(db, { attemptId })
}

/** @throws AppError `not_found` */
export async function getConfirmation(db: Kysely<Schema>, id: string): Promise<Confirmation> {
  const found = isUuid(id) ? await confirmationTable.find(db, { id }) : undefined
  if (found === undefined) throw notFound('confirmation', id)
  return found
}

export async function updateConfirmation(
  tx: Transaction<Schema>,
  id: string,
  changes: CamelCased<Updateable<Schema['device_confirmation']>>,
): Promise<Confirmation> {
  return confirmationTable.update(tx, { id }, changes)
}

/** A confirmation with what whoever decides it must know. */
export interface ShownConfirmation extends Confirmation {
  readonly personName: string
  readonly personEmail: string
  readonly deviceName: string
  readonly applicationName: string | null
  /** Where the browser of the sign-in is. */
  readonly ipAddress: string | null
}

/** The confirmations that wait for somebody, by their ids; of one person where that is asked for. */
export async function listPendingConfirmations(
  db: Kysely<Schema>,
  { personId, at }: { readonly personId?: string; readonly at: Date },
  window: PageWindow,
): Promise<ShownConfirmation[]> {
  const rows = await db
    .selectFrom('device_confirmation as c')
    .innerJoin('sign_in_attempt as t', 't.id', 'c.attempt_id')
    .innerJoin('person as p', 'p.id', 'c.person_id')
    .innerJoin('device as d', 'd.id', 'c.device_id')
    .leftJoin('sign_in_application as a', 'a.id', 't.application_id')
    .selectAll('c')
    .select([
      'p.name as person_name',
      'p.email as person_email',
      'd.name as device_name',
      'a.name as application_name',
      't.ip_address',
    ])
    .where('c.status', '=', 'pending')
    .where('c.expires_at', '>', at)
    .where('t.ended_at', 'is', null)
    .where('t.stage', 'in', ['registration', 'fallback'])
    .$if(personId !== undefined, (some) => some.where('c.person_id', '=', personId ?? ''))
    .where(afterKey(sql.ref('c.id'), window))
    .orderBy('c.id')
    .limit(window.limit)
    .execute()
  return rows.map((row) => confirmationTable.fromRow(row) as unknown as ShownConfirmation)
}

/** The device that a person is taken to sit at who cannot prove one: of the own ones the last that was in contact. */
export async function findLikeliestDevice(
  db: Kysely<Schema>,
  personId: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select d.id from device d left join device_contact c on c.device_id = d.id
    where d.owner_person_id = ${personId} and d.registered_at is not null
      and d.deletion_requested_at is null and d.agent_disabled_at is null and d.node_key_hash is not null
    order by c.last_seen_at desc nulls last, d.id limit 1`.execute(db)
  return rows[0]?.id
}
