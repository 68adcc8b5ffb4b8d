import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'

/** The answer of a device to one put question, ready to be stored. */
export interface StorableAnswer {
  readonly device_id: string
  readonly campaign_id: string
  readonly revision: number
  readonly state: 'successful' | 'errored'
  readonly rows: readonly OsqueryRow[]
  readonly row_count: number
  readonly error_message: string | null
  readonly warning_message: string | null
}

/**
 * Stores the answers of devices that are still owed, and moves the counters, in one statement. Left
 * out are answers to another revision, repeated ones and those to campaigns that do not ask the device.
 * The devices must be locked. Counters are spread by connection, so that groups of answers do not wait for each other's
 * commit, and locked in ascending order of campaign: call it once in a transaction. `answers` holds one of each
 * device and campaign at most.
 */
export async function insertOwedAnswers(
  tx: Transaction<Schema>,
  answers: readonly StorableAnswer[],
  answeredAt: Date,
): Promise<void> {
  await sql`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(answers)}::jsonb) as given(
        device_id bigint, campaign_id bigint, revision integer, state text, rows jsonb,
        row_count integer, error_message text, warning_message text)),
    owed as (
      update live_query_target target set state = given.state from given
      where target.campaign_id = given.campaign_id and target.device_id = given.device_id
        and target.revision = given.revision and target.state = 'waiting'
      returning given.*),
    stored as (
      insert into live_query_result (campaign_id, device_id, revision, rows, row_count,
        error_message, warning_message, answered_at)
      select campaign_id, device_id, revision, rows, row_count, error_message,
        warning_message, ${answeredAt}::timestamptz
      from owed order by campaign_id, device_id)
    insert into live_query_counter as counter (campaign_id, stripe, waiting, successful, errored)
    select campaign_id, counter_stripe(), -count(*)::integer,
      (count(*) filter (where state = 'successful'))::integer,
      (count(*) filter (where state = 'errored'))::integer
    from owed group by campaign_id order by campaign_id
    on conflict (campaign_id, stripe) do update set
      waiting = counter.waiting + excluded.waiting,
      successful = counter.successful + excluded.successful,
      errored = counter.errored + excluded.errored
  `.execute(tx)
}
