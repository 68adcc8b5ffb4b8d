import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { DeviceCheck, NewCheckResult } from './check-result-store.ts'

/** The last result of a check on a person. */
export async function findPersonCheckResult(
  tx: Transaction<Schema>,
  personId: string,
  checkId: string,
): Promise<NonNullable<DeviceCheck['stored']> | undefined> {
  return tx
    .selectFrom('person_check_result')
    .select([
      'status',
      'ran_at as ranAt',
      'status_changed_at as statusChangedAt',
      'failing_since as failingSince',
    ])
    .where('person_id', '=', personId)
    .where('check_id', '=', checkId)
    .executeTakeFirst()
}

/** Stores the result of a check on a locked person. */
export async function upsertPersonCheckResult(
  tx: Transaction<Schema>,
  personId: string,
  result: NewCheckResult,
  ranAt: Date,
): Promise<void> {
  await sql`
    insert into person_check_result (person_id, check_id, status, ran_at, status_changed_at,
      failing_since, rows, error_message, updated_at)
    values (${personId}, ${result.check_id}, ${result.status}, ${ranAt},
      ${result.status_changed_at}, ${result.failing_since}, ${JSON.stringify(result.rows)}::jsonb,
      ${result.error_message}, ${ranAt})
    on conflict (person_id, check_id) do update set
      status = excluded.status, ran_at = excluded.ran_at,
      status_changed_at = excluded.status_changed_at, failing_since = excluded.failing_since,
      rows = excluded.rows, error_message = excluded.error_message, updated_at = excluded.updated_at
  `.execute(tx)
}

/** Ends the results of checks on a locked person; a trigger takes them out of the counters. */
export async function deletePersonCheckResults(
  tx: Transaction<Schema>,
  personId: string,
): Promise<void> {
  await tx.deleteFrom('person_check_result').where('person_id', '=', personId).execute()
}
