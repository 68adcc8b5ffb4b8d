import { sql, type Kysely } from 'kysely'
import { IS_TARGETED } from '../checks/check-scope-store.ts'
import { HAS_ISSUES } from '../devices/device-issues-store.ts'
import type { Schema } from '../../schema/schema.ts'

/** What a check-in needs to know of the device behind a node key. */
export interface NodeFacts {
  readonly deviceId: string
  readonly enrolledAt: Date | null
  readonly checksRanAt: Date | null
  readonly hasRefreshes: boolean
  readonly hasIssues: boolean
}

/** When the last round of a device ended: not before it enrolled, which takes its time away. */
const CHECKS_RAN_AT = sql<Date | null>`case when d.checks_ran_at is not null
  then greatest(d.checks_ran_at, round.ran_at) end`

/** The device that holds a live node key. Devices whose agent is disabled hold none. */
export async function findNode(
  db: Kysely<Schema>,
  keyHash: Buffer,
): Promise<NodeFacts | undefined> {
  const { rows } = await sql<NodeFacts>`
    select d.id as "deviceId", d.enrolled_at as "enrolledAt", ${CHECKS_RAN_AT} as "checksRanAt",
      exists (select from check_refresh f where f.device_id = d.id) as "hasRefreshes",
      ${HAS_ISSUES} as "hasIssues"
    from device d left join device_round round on round.device_id = d.id
    where d.node_key_hash = ${keyHash} and d.agent_disabled_at is null
  `.execute(db)
  return rows[0]
}

/** A check that a device runs itself, with its SQL for the device's platform. */
export interface RunnableCheck {
  readonly checkId: string
  readonly revision: number
  readonly sql: string
  /** Whether it shall run now, whatever the schedule says. */
  readonly isRefreshRequested: boolean
  /** When the device last answered all its checks; the same in every row. */
  readonly checksRanAt: Date | null
}

/** All checks that a device runs itself at present, by ascending id. */
export async function listRunnableChecks(
  db: Kysely<Schema>,
  deviceId: string,
): Promise<RunnableCheck[]> {
  const { rows } = await sql<RunnableCheck>`
    select c.id as "checkId", c.revision, c.queries ->> d.platform as sql,
      f.check_id is not null as "isRefreshRequested", ${CHECKS_RAN_AT} as "checksRanAt"
    from device d left join device_round round on round.device_id = d.id
    cross join posture_check c
    left join check_refresh f on f.device_id = d.id and f.check_id = c.id
    where d.id = ${deviceId} and c.type <> 'external' and c.paused_at is null and ${IS_TARGETED}
    order by c.id
  `.execute(db)
  return rows
}
