/*
 * People: who owns devices and signs in. Owns their rows; where they come from (SCIM, sign-ins,
 * admins) is decided by its callers.
 */
import { sql, type Expression, type SqlBool, type Transaction } from 'kysely'
import type { NewRecord, StoredRecord } from '../../schema/define-table.ts'
import { findRecord } from '../../platform/db/record-table.ts'
import type { Schema } from '../../schema/schema.ts'
import { rowsOf } from '../../schema/row-store.ts'

const people = rowsOf('person', 'person')

export type Person = StoredRecord<'person'>

/** The person with this email address in any case, unless deprovisioned. */
export async function findPersonByEmail(
  tx: Transaction<Schema>,
  email: string,
): Promise<Person | undefined> {
  return findRecord(
    tx
      .selectFrom('person')
      .selectAll()
      .where(sql`lower(email)`, '=', email.toLowerCase())
      .where('deprovisioned_at', 'is', null),
  )
}

/** That a person, live or deprovisioned, has this email address in any case; there is an index of either. */
export function hasEmail(email: string): Expression<SqlBool> {
  const isEmail = sql`lower(email) = lower(${email})`
  return sql<SqlBool>`(${isEmail} and deprovisioned_at is null
    or ${isEmail} and deprovisioned_at is not null)`
}

/**
 * The person with this email address in any case, else the one whose identity carries it besides
 * others, unless deprovisioned.
 */
export async function findPersonByAnyEmail(
  tx: Transaction<Schema>,
  email: string,
): Promise<Person | undefined> {
  const person = await findPersonByEmail(tx, email)
  if (person !== undefined) return person
  return findRecord(
    tx
      .selectFrom('person')
      .selectAll()
      .where('deprovisioned_at', 'is', null)
      .where(
        sql<boolean>`exists (
        select from jsonb_array_elements(emails) as identity(email)
        where lower(identity.email ->> 'value') = ${email.toLowerCase()})`,
      )
      .orderBy('id')
      .limit(1),
  )
}

/**
 * The person whom the identity provider knows by this email address or user name in any case, live or
 * switched off; a live one rather than another.
 */
export async function findProvisionedPerson(
  tx: Transaction<Schema>,
  address: string,
): Promise<Person | undefined> {
  return findRecord(
    tx
      .selectFrom('person')
      .selectAll()
      .where(sql<SqlBool>`(lower(user_name) = lower(${address}) or ${hasEmail(address)})`)
      .where('user_name', 'is not', null)
      .where('provisioning_ended_at', 'is', null)
      .orderBy(sql`deprovisioned_at is not null`)
      .orderBy('id')
      .limit(1),
  )
}

export const findPerson = people.find

/** Inserts a person; undefined when someone else has just inserted the same email address. */
export async function insertPerson(
  tx: Transaction<Schema>,
  person: Omit<NewRecord<'person'>, 'createdAt' | 'updatedAt'>,
  at: Date,
): Promise<Person | undefined> {
  return findRecord(
    tx
      .insertInto('person')
      .values(people.toInsert({ ...person, createdAt: at, updatedAt: at }))
      .onConflict((conflict) => conflict.doNothing())
      .returningAll(),
  )
}

export const updatePerson = people.update

/** Takes a person out of every group; answers the ids of the groups in ascending order. */
export async function deleteMembershipsOfPerson(
  tx: Transaction<Schema>,
  personId: string,
  at: Date,
): Promise<string[]> {
  const groups = await tx
    .updateTable('person_group')
    .set({ revision: sql`revision + 1`, updated_at: at })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('person_group_member')
        .select('person_group_id')
        .where('person_id', '=', personId),
    )
    .returning('id')
    .execute()
  await tx.deleteFrom('person_group_member').where('person_id', '=', personId).execute()
  return groups.map(({ id }) => id).sort((a, b) => Number(a) - Number(b))
}

/** Locks a person's row until the transaction ends. Devices are locked before people. */
export async function lockPerson(tx: Transaction<Schema>, personId: string): Promise<void> {
  await sql`select from person where id = ${personId} for no key update`.execute(tx)
}

/** Notes that people have a trusted device; the time of the first one stays. Locks them by ascending id. Idempotent. */
export async function spendFirstDeviceTrust(
  tx: Transaction<Schema>,
  personIds: readonly string[],
  at: Date,
): Promise<void> {
  if (personIds.length === 0) return
  await sql`
    with spending as materialized (
      select id from person where id = any(${personIds}::bigint[]) and first_device_trusted_at is null
      order by id for no key update)
    update person set first_device_trusted_at = ${at}, updated_at = ${at}
    from spending where person.id = spending.id`.execute(tx)
}

/**
 * Takes back that a person has a trusted device, unless one is registered that nobody has asked to
 * delete; answers the email address of the person when something was taken back.
 */
export async function updateFirstDeviceTrustReset(
  tx: Transaction<Schema>,
  personId: string,
  at: Date,
): Promise<string | undefined> {
  const person = await tx
    .updateTable('person')
    .set({ first_device_trusted_at: null, updated_at: at })
    .where('id', '=', personId)
    .where('first_device_trusted_at', 'is not', null)
    .where(
      sql<boolean>`not exists (
        select from device where device.owner_person_id = ${personId}
          and device.registered_at is not null and device.deletion_requested_at is null)`,
    )
    .returning(['email'])
    .executeTakeFirst()
  return person?.email
}
