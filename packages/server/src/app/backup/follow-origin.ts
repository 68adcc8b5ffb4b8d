/*
 * Notices that the rows are on another server or another history than before: restored by PostgreSQL's own tools, or
 * on a standby that took over. What was committed last may be missing then, and the database is taken into use as one
 * that was restored. A restore by `heliograph restore` has done so already.
 */
import type { Change } from '../../changes/change.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { requestRecentRestatement } from '../../signals/history/restate-streams.ts'
import { adoptRestoredDatabase } from './adopt-restored-database.ts'
import {
  findOrigin,
  findNotedOrigin,
  listStandbys,
  lockNotedOrigin,
  upsertOrigin,
  type DatabaseOrigin,
  type NotedOrigin,
} from './database-origin-store.ts'

export interface OriginDependencies extends Pick<Foundation, 'db' | 'runChange'> {
  readonly config: {
    /** How far back devices are told of anew after a standby took over that had everything. */
    readonly failoverRestatementSeconds: number
  }
  readonly log: Pick<Foundation['log'], 'debug' | 'warn'>
}

/** A failover takes seconds; rows that nobody has looked after for longer are of a backup. */
const FAILOVER_MAX_MS = 2 * MINUTE_MS

/** What this process found that had happened to the database, and saw to. */
export type Takeover = 'complete' | 'incomplete'

/**
 * Looks where the database is, and takes it into use where something may be missing in it. Any number of processes
 * may do so, again and again: one does it and is answered what had happened, and a look that finds it where it was
 * writes nothing. Rejects while the database cannot be written to.
 */
export async function followOrigin({
  config,
  db,
  log,
  runChange,
}: OriginDependencies): Promise<Takeover | undefined> {
  const origin = await findOrigin(db)
  if (origin === undefined) {
    log.debug({}, 'the server does not tell where the database is')
    return undefined
  }
  const noted = await findNotedOrigin(db)
  if (noted !== undefined && isSame(noted, origin)) return undefined
  const recentMs = config.failoverRestatementSeconds * SECOND_MS
  const outcome = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    settle(change, origin, recentMs),
  )
  if (outcome !== undefined) log.warn(outcome.fields, outcome.message)
  return outcome?.takeover
}

/** Warns where a failover would lose what was committed last. */
export async function warnOfAsynchronousStandbys({
  db,
  log,
}: Pick<OriginDependencies, 'db' | 'log'>): Promise<void> {
  const origin = await findOrigin(db)
  if (origin === undefined || origin.isSynchronous) return
  if ((await listStandbys(db)).length === 0) return
  log.warn(
    { setting: 'synchronous_standby_names' },
    'standbys follow the database asynchronously: a failover loses what was committed last; name a synchronous one',
  )
}

interface Outcome {
  readonly takeover: Takeover
  readonly fields: Record<string, string | number>
  readonly message: string
}

async function settle(
  change: Change,
  origin: DatabaseOrigin,
  recentMs: number,
): Promise<Outcome | undefined> {
  const noted = await lockNotedOrigin(change.tx)
  if (noted !== undefined && isSame(noted, origin)) return undefined
  await upsertOrigin(change.tx, origin)
  if (noted === undefined || !hasMoved(noted, origin)) return undefined
  const fields = {
    system_identifier: origin.systemIdentifier,
    timeline_id: origin.timelineId,
    previous_timeline_id: noted.timelineId,
  }
  if (isComplete(noted, origin)) {
    const since = new Date(change.at.getTime() - recentMs)
    const deviceCount = recentMs === 0 ? 0 : await requestRecentRestatement(change, since)
    return {
      takeover: 'complete',
      fields: { ...fields, devices_told_anew: deviceCount },
      message: 'a standby took over, which had everything',
    }
  }
  const { streamCount } = await adoptRestoredDatabase(change, {
    description:
      'found the database restored or replaced, so that what was committed last may be missing',
    facts: fields,
  })
  return {
    takeover: 'incomplete',
    fields: { ...fields, streams_told_anew: streamCount },
    message: 'the database was restored or replaced: receivers are told everything anew',
  }
}

function isSame(noted: NotedOrigin, origin: DatabaseOrigin): boolean {
  return !hasMoved(noted, origin) && noted.isSynchronous === origin.isSynchronous
}

function hasMoved(noted: NotedOrigin, origin: DatabaseOrigin): boolean {
  return (
    noted.systemIdentifier !== origin.systemIdentifier || noted.timelineId !== origin.timelineId
  )
}

/** A synchronous standby of the same cluster, right after the server that it followed. */
function isComplete(noted: NotedOrigin, origin: DatabaseOrigin): boolean {
  return (
    noted.systemIdentifier === origin.systemIdentifier &&
    noted.isSynchronous &&
    // A clock that is far behind tells nothing of how long it took.
    Math.abs(noted.silentMs) < FAILOVER_MAX_MS
  )
}
