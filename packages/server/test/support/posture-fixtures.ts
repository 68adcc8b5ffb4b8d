import type { Insertable, Kysely } from 'kysely'
import {
  createChangeRunner,
  type Change,
  type ChangePublisher,
  type RunChange,
} from '../../src/changes/change.ts'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import { applyCheckScope } from '../../src/posture/checks/apply-check-scope.ts'
import {
  recordCheckResults,
  type CheckReport,
  type RecordedReport,
} from '../../src/posture/checks/record-check-results.ts'
import type { DeviceStatusChange } from '../../src/changes/domain-event.ts'
import { ManualClock } from './manual-clock.ts'
import { CommitNotifier } from '../../src/platform/db/commit-notifier.ts'
import { newSecret } from '../../src/platform/ids.ts'
import type { Schema } from '../../src/schema/schema.ts'
import { createWebhookPublisher } from '../../src/signals/webhooks/webhook-publisher.ts'

/** A service without its surroundings: changes, a clock that stands still, and what was announced. */
export interface Posture {
  readonly db: Kysely<Schema>
  readonly clock: ManualClock
  readonly runChange: RunChange
  /** Every change of a device's status, in its order. */
  readonly announced: DeviceStatusChange[]
  /** Adds to `announced` what another runner of changes publishes. */
  readonly announce: ChangePublisher
  change<Result>(work: (change: Change) => Promise<Result>): Promise<Result>
  insertCheck(values?: Partial<Insertable<Schema['posture_check']>>): Promise<string>
  insertDevice(values?: Partial<Insertable<Schema['device']>>): Promise<string>
  /** Answers checks of revision 1 now: one list of rows for each check. */
  report(
    deviceId: string,
    rowsByCheck: Record<string, Record<string, string>[]>,
    options?: Partial<CheckReport>,
  ): Promise<RecordedReport>
}

export const PASS = [{ KOLIDE_CHECK_STATUS: 'PASS' }]
export const FAIL = [{ KOLIDE_CHECK_STATUS: 'FAIL' }]
export const ERROR = [{ KOLIDE_CHECK_STATUS: 'ERROR' }]

export function createPosture(db: Kysely<Schema>, start?: string): Posture {
  const clock = new ManualClock(start)
  const announced: DeviceStatusChange[] = []
  const announce: ChangePublisher = async ({ events }) => {
    for (const event of events) {
      if (event.type !== 'device.status_changed') continue
      const { device, previous, current, occurredAt, initiatingEntity, reasons } = event
      announced.push({ device, previous, current, occurredAt, initiatingEntity, reasons })
    }
  }
  const publishWebhooks = createWebhookPublisher({ clock, baseUrl: 'https://trust.example.com' })
  const notifier = new CommitNotifier({ db, logError: () => undefined })
  const changes = createChangeRunner(db, clock, [announce, publishWebhooks], notifier)
  const runChange: RunChange = async (origin, work) => {
    const result = await changes(origin, work)
    await notifier.flush()
    return result
  }
  const change: Posture['change'] = (work) => runChange({ actor: SYSTEM_ACTOR }, work)
  return {
    db,
    clock,
    runChange,
    announced,
    announce,
    change,
    insertCheck: (values = {}) =>
      change(async (open) => {
        const { id } = await open.tx
          .insertInto('posture_check')
          .values({
            ...CHECK,
            platforms: ['darwin', 'linux', 'windows'],
            slug: `check-${newSecret(6)}`,
            ...times(clock),
            ...values,
          })
          .returning('id')
          .executeTakeFirstOrThrow()
        await applyCheckScope(open, { checkIds: [id] }, ADDED)
        return id
      }),
    insertDevice: (values = {}) =>
      change(async (open) => {
        const { id } = await open.tx
          .insertInto('device')
          .values({ ...DEVICE, host_identifier: newSecret(9), ...times(clock), ...values })
          .returning('id')
          .executeTakeFirstOrThrow()
        await applyCheckScope(open, { deviceIds: [id] }, ADDED)
        return id
      }),
    report: (deviceId, rowsByCheck, options = {}) =>
      change((open) =>
        recordCheckResults(open, {
          deviceId,
          results: Object.entries(rowsByCheck).map(([checkId, rows]) => ({
            checkId,
            revision: 1,
            rows,
            statusCode: 0,
            message: '',
          })),
          ...options,
        }),
      ),
  }
}

const ADDED = { initiatingEntity: 'system', reason: 'Added by a test.' } as const

const times = (clock: ManualClock) => ({ created_at: clock.now(), updated_at: clock.now() })

const CHECK = {
  name: 'Disk encryption',
  description: 'Disks are encrypted.',
  issue_title: 'A disk is not encrypted',
  type: 'osquery',
  is_built_in: true,
  queries: JSON.stringify({ darwin: 'select 1', linux: 'select 1', windows: 'select 1' }),
  primary_key_column: null,
  remediation_strategy: 'block_immediately',
} as const

const DEVICE = { name: 'mac-1', platform: 'darwin' } as const
