import type { Foundation, ServicePart } from '../../changes/foundation.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { findDatabaseFault } from '../../platform/db/database-fault.ts'
import { startRepeating } from '../../platform/jobs/periodic-job.ts'
import type { RunningJob } from '../../platform/jobs/running-job.ts'
import { listStandbys } from './database-origin-store.ts'
import {
  followOrigin,
  warnOfAsynchronousStandbys,
  type OriginDependencies,
  type Takeover,
} from './follow-origin.ts'

/** What is known of standbys when a server is lost is at most so old: commits may stop waiting for them at any time. */
const LOOK_INTERVAL_MS = 5 * SECOND_MS
/** A server that has just taken over does not take writes at once. */
const RETRY_MS = SECOND_MS

/** Looks where the database is, above all when the connection to it was lost: a failover never keeps one. */
export function createOriginPart(
  foundation: Foundation & Pick<OriginDependencies, 'config'>,
): ServicePart {
  const { log } = foundation
  let following: RunningJob | undefined
  let isReconnected = false
  let nextLookMs = 0
  const takeovers = new Map<Takeover, number>([
    ['complete', 0],
    ['incomplete', 0],
  ])
  async function follow(): Promise<number> {
    if (!isReconnected && performance.now() < nextLookMs) return RETRY_MS
    try {
      const takeover = await followOrigin(foundation)
      if (takeover !== undefined) takeovers.set(takeover, (takeovers.get(takeover) ?? 0) + 1)
      if (isReconnected) await warnOfAsynchronousStandbys(foundation)
      isReconnected = false
      nextLookMs = performance.now() + LOOK_INTERVAL_MS
    } catch (error) {
      const text = 'where the database is could not be read, and will be tried again'
      if (findDatabaseFault(error) === undefined) log.error({ err: error }, text)
      else log.debug({ err: error }, text)
    }
    return RETRY_MS
  }
  return {
    name: 'database origin',
    roles: ['worker'],
    onReconnect: () => {
      isReconnected = true
    },
    metrics: [
      {
        name: 'heliograph_database_takeovers_total',
        help: 'Standbys and restored servers that this process saw take over, by whether they had everything',
        kind: 'counter',
        label: 'kind',
        read: () => Promise.resolve(takeovers),
      },
      {
        name: 'heliograph_database_standbys',
        help: 'Servers that follow the database, by whether commits wait for them',
        label: 'sync_state',
        read: () => countStandbys(foundation),
      },
    ],
    start: async () => {
      following = startRepeating(follow, RETRY_MS)
    },
    stop: async () => following?.stop(),
  }
}

/** A role that may not read statistics learns no state. */
async function countStandbys({ db }: Pick<Foundation, 'db'>): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const { syncState } of await listStandbys(db)) {
    const state = syncState ?? 'unknown'
    counts.set(state, (counts.get(state) ?? 0) + 1)
  }
  return counts
}
