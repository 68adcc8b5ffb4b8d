import { sql, type Kysely, type Transaction } from 'kysely'
import type { StoredRecord } from '../../../schema/define-table.ts'
import { findRecord, listRecords, toRecord } from '../../../platform/db/record-table.ts'
import { notFound } from '../../../platform/app-error.ts'
import { readPage, type PageWindow } from '../../../platform/db/page.ts'
import { parseId } from '../../../platform/ids.ts'
import type { Schema } from '../../../schema/schema.ts'
import { lockInTransaction } from '../../../platform/db/advisory-lock.ts'
import { LOCK_KEYS } from '../../../schema/lock-keys.ts'
import { rowsOf } from '../../../schema/row-store.ts'

const secrets = rowsOf('enrollment_secret', 'enrollment secret')

export type EnrollmentSecret = StoredRecord<'enrollment_secret'>

export const insertEnrollmentSecret = secrets.insert

/**
 * The secret, locked until the transaction ends.
 *
 * @throws AppError `not_found`
 */
export async function getEnrollmentSecretForUpdate(
  db: Kysely<Schema>,
  id: string,
): Promise<EnrollmentSecret> {
  return secrets.getForUpdate(db, parseId(id, 'enrollment secret'))
}

export const updateEnrollmentSecret = secrets.update

/** An enrollment secret with the email address of the person it is bound to. */
export interface ListedEnrollmentSecret extends EnrollmentSecret {
  readonly personEmail: string | null
}

function selectListed(db: Kysely<Schema>) {
  return db
    .selectFrom('enrollment_secret')
    .leftJoin('person', 'person.id', 'enrollment_secret.person_id')
    .selectAll('enrollment_secret')
    .select('person.email as person_email')
}

/** All enrollment secrets by ascending id. */
export async function listAllEnrollmentSecrets(
  db: Kysely<Schema>,
): Promise<ListedEnrollmentSecret[]> {
  return listRecords(selectListed(db).orderBy('enrollment_secret.id'))
}

/** A page of enrollment secrets by ascending id. */
export async function listEnrollmentSecrets(
  db: Kysely<Schema>,
  window: PageWindow,
): Promise<ListedEnrollmentSecret[]> {
  const rows = await readPage(selectListed(db), 'enrollment_secret.id', window)
  return rows.map(toRecord)
}

/**
 * An enrollment secret as it is listed.
 *
 * @throws AppError `not_found`, the same for every text that is the id of none
 */
export async function getListedEnrollmentSecret(
  db: Kysely<Schema>,
  id: string,
): Promise<ListedEnrollmentSecret> {
  const secret = await findRecord(
    selectListed(db).where('enrollment_secret.id', '=', parseId(id, 'enrollment secret')),
  )
  if (secret === undefined) throw notFound('enrollment secret', id)
  return secret
}

/** The ids of the secrets bound to a person that are not revoked, in ascending order. */
export async function listLiveSecretIdsOfPerson(
  db: Kysely<Schema>,
  personId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('enrollment_secret')
    .select('id')
    .where('person_id', '=', personId)
    .where('revoked_at', 'is', null)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** The newest secret of this name that is bound to nobody; nobody else looks for one until the transaction ends. */
export async function findSharedSecretLocked(
  db: Kysely<Schema>,
  name: string,
): Promise<EnrollmentSecret | undefined> {
  await lockInTransaction(db, LOCK_KEYS.sharedEnrollmentSecrets)
  return findRecord(
    db
      .selectFrom('enrollment_secret')
      .selectAll()
      .where('name', '=', name)
      .where('person_id', 'is', null)
      .orderBy('id', 'desc')
      .limit(1),
  )
}

/** How often a secret is used at once. */
export interface NewSecretUses {
  readonly secretId: string
  /** All uses, enrollments among them. */
  readonly usesCount: number
  readonly enrollmentsCount: number
}

/** What a secret has been used for, after these uses. */
export interface SecretUses {
  readonly id: string
  readonly name: string
  readonly useCount: number
  readonly usesMax: number | null
  readonly hourUses: number
  readonly alarmUsesPerHour: number | null
}

/**
 * Counts uses of secrets, in the hour of `at` and, of enrollments, against their maximum. An hour begins
 * with the first use after the last one has ended. Locks the secrets by ascending id.
 */
export async function updateSecretUses(
  tx: Transaction<Schema>,
  uses: readonly NewSecretUses[],
  at: Date,
): Promise<SecretUses[]> {
  const isSameHour = sql<boolean>`coalesce(hour_began_at > ${at}::timestamptz - interval '1 hour', false)`
  const given = uses.map(({ secretId, usesCount, enrollmentsCount }) => {
    return { id: secretId, uses: usesCount, enrollments: enrollmentsCount }
  })
  const { rows } = await sql<SecretUses>`
    with given as materialized (
      select secret.id, used.uses, used.enrollments
      from jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
        as used(id bigint, uses integer, enrollments integer)
      join enrollment_secret secret on secret.id = used.id
      order by secret.id for no key update of secret)
    update enrollment_secret secret set
      use_count = use_count + given.enrollments,
      last_used_at = greatest(last_used_at, ${at}::timestamptz),
      hour_uses = case when ${isSameHour} then hour_uses else 0 end + given.uses,
      hour_began_at = case when ${isSameHour} then hour_began_at else ${at}::timestamptz end
    from given where secret.id = given.id
    returning secret.id, name, use_count::float8 as "useCount", uses_max::float8 as "usesMax",
      hour_uses::float8 as "hourUses", alarm_uses_per_hour::float8 as "alarmUsesPerHour"
  `.execute(tx)
  return rows
}
