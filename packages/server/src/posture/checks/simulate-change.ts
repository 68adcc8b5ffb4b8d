import type { Change } from '../../changes/change.ts'
import { getDeviceForUpdate } from '../devices/device-store.ts'
import { listStatusIssues } from '../issues/issue-store.ts'
import type { AuthState, Compliance } from '../../schema/status-values.ts'
import {
  findCheckBySlug,
  insertCheck,
  lockCatalogue,
  updateCheck,
  type PostureCheck,
} from './catalogue-store.ts'
import { CHECK_STATUS_COLUMN } from './check-definition.ts'
import { recordCheckResults } from './record-check-results.ts'

/** What came of a simulated change of posture. */
export interface SimulatedChange {
  readonly device_id: string
  readonly previous_state: AuthState
  readonly auth_state: AuthState
  readonly compliance: Compliance
  /** Whether the state or the compliance of the device changed. */
  readonly changed: boolean
  /** Issues of other checks that count against the device; they keep it from becoming Good. */
  readonly other_open_issues: readonly { readonly id: string; readonly title: string }[]
}

/** The check whose results are made by command. */
export const SIMULATED_CHECK_SLUG = 'simulated-posture'

/**
 * Records a failing (`blocked`) or passing (`good`) answer to a check that exists for this purpose and
 * blocks immediately, so that everything that follows from an answer follows. The device counts as
 * evaluated from then on. `good` undoes `blocked`; issues of other checks stay and are named.
 *
 * @throws AppError `not_found`
 */
export async function simulateChange(
  change: Change,
  input: { readonly deviceId: string; readonly to: 'blocked' | 'good' },
): Promise<SimulatedChange> {
  const check = await ensureSimulatedCheck(change)
  const device = await getDeviceForUpdate(change.tx, input.deviceId)
  change.recordAudit({
    action: 'device.posture_simulated',
    target: { type: 'device', id: device.id },
    description: `simulated a ${input.to === 'blocked' ? 'failing' : 'passing'} check on ${device.name}`,
  })
  const recorded = await recordCheckResults(change, {
    deviceId: device.id,
    results: [toAnswer(check, input.to)],
    countsAsEvaluation: true,
  })
  if (recorded.kind !== 'recorded') throw new Error('a locked device vanished')
  const issues = await listStatusIssues(change.tx, [device.id])
  return {
    device_id: device.id,
    previous_state: device.authState,
    auth_state: recorded.authState,
    compliance: recorded.compliance,
    changed: device.authState !== recorded.authState || device.compliance !== recorded.compliance,
    other_open_issues: issues
      .filter((issue) => issue.checkId !== check.id && issue.strategy !== 'report_only')
      .map((issue) => ({ id: issue.issueId, title: issue.issueTitle })),
  }
}

async function ensureSimulatedCheck(change: Change): Promise<PostureCheck> {
  const existing = await findCheckBySlug(change.tx, SIMULATED_CHECK_SLUG)
  if (existing !== undefined) {
    if (existing.pausedAt === null && existing.remediationStrategy === 'block_immediately') {
      return existing
    }
    const values = { pausedAt: null, pausedBy: null, updatedAt: change.at }
    await updateCheck(change.tx, existing.id, {
      ...values,
      remediationStrategy: 'block_immediately',
    })
    return { ...existing, ...values, remediationStrategy: 'block_immediately' }
  }
  await lockCatalogue(change.tx)
  const created = await findCheckBySlug(change.tx, SIMULATED_CHECK_SLUG)
  if (created !== undefined) return created
  return insertCheck(change.tx, {
    slug: SIMULATED_CHECK_SLUG,
    name: 'Simulated posture',
    description: 'Fails and passes by command, to try out what follows from a change of posture.',
    issueTitle: 'Simulated posture is failing',
    type: 'external',
    isBuiltIn: false,
    platforms: ['darwin', 'windows', 'linux', 'ios', 'android'],
    topics: ['simulation'],
    primaryKeyColumn: null,
    rationaleTemplate: 'An operator simulates a failing device.',
    fixInstructionsTemplate: 'Run `heliograph devices simulate-change` with `--to good`.',
    privacyInfo: 'Nothing is read from the device.',
    remediationStrategy: 'block_immediately',
    createdAt: change.at,
    updatedAt: change.at,
  })
}

function toAnswer(check: PostureCheck, to: 'blocked' | 'good') {
  return {
    checkId: check.id,
    revision: check.revision,
    rows: [{ [CHECK_STATUS_COLUMN]: to === 'blocked' ? 'FAIL' : 'PASS', simulated: 'yes' }],
    statusCode: 0,
    message: '',
  }
}
