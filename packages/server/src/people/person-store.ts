/*
 * People: who owns devices and signs in. Owns their rows; where they come from (SCIM, sign-ins,
 * admins) is decided by its callers.
 */
import { sql, type Selectable, type Transaction } from 'kysely'
import type { PersonTable, Schema } from '../platform/db/schema.ts'

export type Person = Selectable<PersonTable>

/** The person with this email address in any case, unless deprovisioned. */
export async function findPersonByEmail(
  tx: Transaction<Schema>,
  email: string,
): Promise<Person | undefined> {
  return tx
    .selectFrom('person')
    .selectAll()
    .where(sql`lower(email)`, '=', email.toLowerCase())
    .where('deprovisioned_at', 'is', null)
    .executeTakeFirst()
}

export async function findPerson(tx: Transaction<Schema>, id: string): Promise<Person | undefined> {
  return tx.selectFrom('person').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Inserts a person; undefined when someone else has just inserted the same email address. */
export async function insertPerson(
  tx: Transaction<Schema>,
  person: { readonly name: string; readonly email: string },
  at: Date,
): Promise<Person | undefined> {
  return tx
    .insertInto('person')
    .values({ ...person, created_at: at, updated_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
}
