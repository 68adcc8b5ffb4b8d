import { sql, type Kysely } from 'kysely'
import type { StoredRecord } from '../../../schema/define-table.ts'
import { findRecord, listRecords, takeRecord, toRecord } from '../../../platform/db/record-table.ts'
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

/** What a secret has been used for, after one more use. */
export interface SecretUses {
  readonly name: string
  readonly useCount: string
  readonly usesMax: string | null
  readonly hourUses: string
  readonly alarmUsesPerHour: string | null
}

/**
 * Counts a use of a secret, in the hour of `at` and, of an enrollment, against its maximum. An hour begins
 * with the first use after the last one has ended.
 */
export async function updateSecretUses(
  db: Kysely<Schema>,
  id: string,
  { at, isEnrollment }: { readonly at: Date; readonly isEnrollment: boolean },
): Promise<SecretUses> {
  const isSameHour = sql<boolean>`coalesce(hour_began_at > ${at}::timestamptz - interval '1 hour', false)`
  return takeRecord(
    db
      .updateTable('enrollment_secret')
      .set({
        use_count: sql<string>`use_count + ${isEnrollment ? 1 : 0}::int`,
        last_used_at: sql<Date>`greatest(last_used_at, ${at}::timestamptz)`,
        hour_uses: sql<string>`case when ${isSameHour} then hour_uses + 1 else 1 end`,
        hour_began_at: sql<Date>`case when ${isSameHour} then hour_began_at else ${at}::timestamptz end`,
      })
      .where('id', '=', id)
      .returning(['name', 'use_count', 'uses_max', 'hour_uses', 'alarm_uses_per_hour']),
  )
}
