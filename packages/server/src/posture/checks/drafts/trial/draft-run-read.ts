import type { Kysely } from 'kysely'
import { notFound } from '../../../../platform/app-error.ts'
import type { Schema } from '../../../../schema/schema.ts'
import type { OsqueryRow } from '../../../../schema/tables/column-types.ts'

/** The query of a draft on one device. */
export interface DraftRun {
  readonly campaignId: string
  readonly deviceId: string
  readonly state: 'waiting' | 'successful' | 'errored'
  readonly rows: readonly OsqueryRow[]
  readonly errorMessage: string | null
  readonly warningMessage: string | null
  readonly answeredAt: Date | null
}

/**
 * What became of a live query that asks one device.
 *
 * @throws AppError `not_found`, also for one that asks several
 */
export async function getDraftRun(db: Kysely<Schema>, campaignId: string): Promise<DraftRun> {
  const targets = await db
    .selectFrom('live_query_target')
    .leftJoin('live_query_result', (join) =>
      join
        .onRef('live_query_result.campaign_id', '=', 'live_query_target.campaign_id')
        .onRef('live_query_result.device_id', '=', 'live_query_target.device_id'),
    )
    .select([
      'live_query_target.campaign_id as campaignId',
      'live_query_target.device_id as deviceId',
      'live_query_target.state',
      'live_query_result.rows',
      'live_query_result.error_message as errorMessage',
      'live_query_result.warning_message as warningMessage',
      'live_query_result.answered_at as answeredAt',
    ])
    .where('live_query_target.campaign_id', '=', campaignId)
    .limit(2)
    .execute()
  const [run, other] = targets
  if (run === undefined || other !== undefined) throw notFound('run of a draft', campaignId)
  return { ...run, rows: run.rows ?? [] }
}
