import {
  sql,
  type Insertable,
  type Kysely,
  type Selectable,
  type SqlBool,
  type Transaction,
  type Updateable,
} from 'kysely'
import { notFound } from '../../platform/app-error.ts'
import type { CamelCased } from '../../platform/db/record-table.ts'
import { afterKey, type PageWindow } from '../../platform/db/page.ts'
import { isUuid } from '../../platform/ids.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Attempt } from '../attempts/attempt-store.ts'

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

/** That admins have denied the registration which an attempt waits for. */
export interface RegistrationDenial {
  readonly confirmationId: string
  readonly decidedBy: string | null
  /** Why, in words for the person; empty without any. */
  readonly note: string
}

/** The denial of the request that an attempt has led to; undefined while it is not decided, or was approved. */
export async function findRegistrationDenial(
  db: Kysely<Schema>,
  attemptId: string,
): Promise<RegistrationDenial | undefined> {
  const { rows } = await sql<RegistrationDenial>`
    select c.id as "confirmationId", r.decided_by as "decidedBy",
      coalesce(r.end_user_denial_note, '') as note
    from device_confirmation c
    join lateral (
      select status, decided_at, decided_by, end_user_denial_note from registration_request
      where device_id = c.device_id and requester_person_id = c.person_id
      order by id desc limit 1) r on true
    where c.attempt_id = ${attemptId} and c.kind = 'registration' and c.status = 'pending'
      and r.status = 'denied' and r.decided_at >= c.requested_at`.execute(db)
  return rows[0]
}

/** The confirmations that wait for somebody, by their ids. */
export async function listPendingConfirmations(
  db: Kysely<Schema>,
  at: Date,
  window: PageWindow,
): Promise<ShownConfirmation[]> {
  const rows = await selectShown(db, at)
    .where(afterKey(sql.ref('c.id'), window))
    .orderBy('c.id')
    .limit(window.limit)
    .execute()
  return rows.map(toShown)
}

/** The device of a person from which others are confirmed. */
export interface ConfirmingDeviceKey {
  readonly personId: string
  readonly deviceId: string
}

/** What waits for a person on a device and was asked for last, newest first, and how many there are in all. */
export async function listConfirmationsForDevice(
  db: Kysely<Schema>,
  { personId, deviceId }: ConfirmingDeviceKey,
  at: Date,
  limit: number,
): Promise<{ readonly confirmations: ShownConfirmation[]; readonly count: number }> {
  const rows = await selectShown(db, at)
    .select(sql<number>`(count(*) over ())::int`.as('total_count'))
    .where('c.person_id', '=', personId)
    .where('c.device_id', '<>', deviceId)
    .where(sql<SqlBool>`'registered_device' = any(c.ways)`)
    .orderBy('c.requested_at', 'desc')
    .orderBy('c.id')
    .limit(limit)
    .execute()
  return { confirmations: rows.map(toShown), count: rows[0]?.total_count ?? 0 }
}

function selectShown(db: Kysely<Schema>, at: Date) {
  return selectPending(db, at)
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
}

function selectPending(db: Kysely<Schema>, at: Date) {
  return db
    .selectFrom('device_confirmation as c')
    .innerJoin('sign_in_attempt as t', 't.id', 'c.attempt_id')
    .where('c.status', '=', 'pending')
    .where('c.expires_at', '>', at)
    .where('t.ended_at', 'is', null)
    .where('t.stage', 'in', ['registration', 'fallback'])
}

function toShown(row: Selectable<Schema['device_confirmation']>): ShownConfirmation {
  return confirmationTable.fromRow(row) as unknown as ShownConfirmation
}

/** How many other sign-ins of the person of an attempt, from where its browser is, wait for a confirmation. */
export async function countPendingBeside(
  tx: Transaction<Schema>,
  { id, personId, ipAddress }: Pick<Attempt, 'id' | 'personId' | 'ipAddress'>,
  at: Date,
): Promise<number> {
  const { count } = await selectPending(tx, at)
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('c.person_id', '=', personId)
    .where(sql<SqlBool>`t.ip_address is not distinct from ${ipAddress}`)
    .where('t.id', '<>', id)
    .executeTakeFirstOrThrow()
  return Number(count)
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
