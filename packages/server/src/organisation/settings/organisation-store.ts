import { sql, type Kysely, type Selectable, type Updateable } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { OrganisationTable } from '../../schema/tables/organisation-tables.ts'

/** The channel on which every process hears that the organisation changed. */
export const ORGANISATION_CHANNEL = 'organisation'

export type Organisation = Selectable<OrganisationTable>

/** The organisation. Exists from the first start on. */
export async function getOrganisation(db: Kysely<Schema>): Promise<Organisation> {
  return db.selectFrom('organisation').selectAll().executeTakeFirstOrThrow()
}

/** Creates the organisation unless it exists. Idempotent. */
export async function insertOrganisation(
  db: Kysely<Schema>,
  name: string,
  createdAt: Date,
): Promise<void> {
  await db
    .insertInto('organisation')
    .values({ name, created_at: createdAt, updated_at: createdAt })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

/** Changes the organisation, and tells every process when the change commits. */
export async function updateOrganisation(
  db: Kysely<Schema>,
  values: Updateable<OrganisationTable>,
): Promise<Organisation> {
  await sql`select pg_notify(${ORGANISATION_CHANNEL}, '')`.execute(db)
  return db.updateTable('organisation').set(values).returningAll().executeTakeFirstOrThrow()
}
