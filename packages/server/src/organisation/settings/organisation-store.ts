import type { Kysely } from 'kysely'
import { defineTable, type RecordChanges, type RecordOf } from '../../schema/define-table.ts'
import { notify } from '../../platform/db/listener.ts'
import { takeRecord } from '../../platform/db/record-table.ts'
import { errorCodeOf } from '../../platform/error-code-of.ts'
import type { Schema } from '../../schema/schema.ts'
import { isRestoreFinished } from '../../schema/unfinished-restore-store.ts'

/** The channel on which every process hears that the organisation changed. */
export const ORGANISATION_CHANNEL = 'organisation'

/** SQLSTATEs of PostgreSQL, appendix A. */
const UNDEFINED_TABLE = '42P01'
/** The owner of the tables has not said yet what the service may do. */
const NOT_GRANTED = '42501'
const UNDEFINED_COLUMN = '42703'

const organisations = defineTable('organisation')

export type Organisation = RecordOf<typeof organisations>

/** The organisation. Exists from the first start on. */
export async function getOrganisation(db: Kysely<Schema>): Promise<Organisation> {
  return takeRecord(db.selectFrom('organisation').selectAll())
}

/** The organisation, locked until the transaction ends: of two changes at once, the second sees what the first did. */
export async function getOrganisationForUpdate(db: Kysely<Schema>): Promise<Organisation> {
  return takeRecord(db.selectFrom('organisation').selectAll().forUpdate())
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
  values: RecordChanges<'organisation'>,
): Promise<Organisation> {
  await notify(db, ORGANISATION_CHANNEL)
  return takeRecord(
    db.updateTable('organisation').set(organisations.toUpdate(values)).returningAll(),
  )
}

/**
 * What the database was last prepared for; undefined when it never was, by a program that did not say so, when a table,
 * a column or a right is missing too, and while a restore is not finished, whose rows were prepared elsewhere.
 */
export async function findPreparation(db: Kysely<Schema>): Promise<string | undefined> {
  try {
    const row = await db
      .selectFrom('organisation')
      .select('prepared_for')
      .where(isRestoreFinished)
      .executeTakeFirst()
    return row?.prepared_for ?? undefined
  } catch (error) {
    if (isSchemaMissing(error)) return undefined
    throw error
  }
}

/** Stores what the database is prepared for. Nobody is told: nothing of the organisation changes. */
export async function updatePreparation(db: Kysely<Schema>, fingerprint: string): Promise<void> {
  await db
    .updateTable('organisation')
    .set({ prepared_for: fingerprint })
    .where('prepared_for', 'is distinct from', fingerprint)
    .execute()
}

/** Has the next process prepare the database anew. */
export async function clearPreparation(db: Kysely<Schema>): Promise<void> {
  await db.updateTable('organisation').set({ prepared_for: null }).execute()
}

function isSchemaMissing(error: unknown): boolean {
  const code = errorCodeOf(error)
  return code === UNDEFINED_TABLE || code === UNDEFINED_COLUMN || code === NOT_GRANTED
}
