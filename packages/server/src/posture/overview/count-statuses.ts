/*
 * Keeps the course of the statuses of the fleet: counts devices by status again and again.
 */
import type { Kysely } from 'kysely'
import { DAY_MS } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import {
  countStatuses,
  hasStatusCounts,
  insertCountsOfTransitions,
  insertStatusCounts,
} from './status-count-store.ts'

/** How far back the first run looks for what transitions tell. */
const HISTORY_MS = 90 * DAY_MS

/** Adds the counts of this moment; the first run adds those of the time before. */
export async function recordStatusCounts(db: Kysely<Schema>, now: Date): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (!(await hasStatusCounts(tx))) {
      await insertCountsOfTransitions(tx, new Date(now.getTime() - HISTORY_MS), now)
    }
    await insertStatusCounts(tx, { at: now, ...(await countStatuses(tx)) })
  })
}
