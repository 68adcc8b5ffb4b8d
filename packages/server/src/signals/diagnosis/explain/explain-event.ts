/*
 * Says what a stream would get if the compliance of a device changed now, and if nothing, why. It is a
 * dry run of the publisher: the same decision as for every real event, behind a savepoint that is rolled
 * back at once. What is shown cannot differ from what would be sent.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import type { Change } from '../../../changes/change.ts'
import type { DeviceStatusChange } from '../../../changes/domain-event.ts'
import { dryRun } from '../../../platform/db/dry-run.ts'
import { toDeviceOfChange } from '../../../posture/devices/to-device-of-change.ts'
import { lockDevices, type LockedDevice } from '../../../posture/devices/device-status-store.ts'
import { evaluateDeviceStatus } from '../../../posture/devices/evaluate-device-status.ts'
import { listStatusIssues } from '../../../posture/issues/issue-store.ts'
import type { Compliance } from '../../../schema/status-values.ts'
import { notFound } from '../../../platform/app-error.ts'
import type { Sealer } from '../../../platform/secrets/sealed-box.ts'
import type { NewDelivery } from '../../dispatch/delivery-store.ts'
import { decideComplianceSets } from '../../sets/ssf-publisher.ts'
import type { Stream } from '../../streams/stream-store.ts'
import { readSubjectFilter } from '../../subjects/filter-events.ts'

/** Why a stream would get no event. */
export const STOP_RULES = [
  'word_unchanged',
  'stream_disabled',
  'event_not_requested',
  'subject_not_included',
  'no_owner',
  'damped',
  'other',
] as const

export type StopRule = (typeof STOP_RULES)[number]

/** What would become of an event. */
export type Explanation =
  | {
      /** `held`: kept until the stream is enabled; `delayed`: sent at `dueAt` unless the word turns back. */
      readonly outcome: 'sent' | 'held' | 'delayed'
      readonly claims: Readonly<Record<string, unknown>>
      readonly dueAt: Date
    }
  | { readonly outcome: 'stopped'; readonly rule: StopRule; readonly reason: string }

/** The turn that is asked about. */
export interface ImaginedTurn {
  readonly deviceId: string
  readonly to: Compliance
}

/**
 * Explains what would happen. Writes nothing that lasts; locks the device until the change ends. `sealer` opens
 * the secrets of pairwise identifiers.
 *
 * @throws AppError `not_found` for an unknown device
 */
export async function explainEvent(
  change: Change,
  stream: Stream,
  { deviceId, to }: ImaginedTurn,
  sealer: Pick<Sealer, 'open'>,
): Promise<Explanation> {
  const [device] = await lockDevices(change.tx, [deviceId])
  if (device === undefined) throw notFound('device', deviceId)
  const statusChange = await imagineChange(change, device, to)
  const decision = await decide(change, stream, statusChange, sealer)
  if (typeof decision === 'string') {
    return { outcome: 'stopped', rule: decision, reason: describeRule(decision, stream, device) }
  }
  const claims = JSON.parse(decision.body) as Record<string, unknown>
  // A real event is given its id when it is queued.
  delete claims['jti']
  const { delayMs = 0 } = decision
  const outcome = stream.status === 'paused' ? 'held' : delayMs > 0 ? 'delayed' : 'sent'
  return { outcome, claims, dueAt: new Date(change.at.getTime() + delayMs) }
}

async function imagineChange(
  change: Change,
  device: LockedDevice,
  to: Compliance,
): Promise<DeviceStatusChange> {
  const issues = await listStatusIssues(change.tx, [device.id])
  const { reasons } = evaluateDeviceStatus({
    isEvaluated: true,
    issues,
    threshold: device.threshold,
    now: change.at,
  })
  return {
    device: toDeviceOfChange(device),
    previous: { authState: device.authState, compliance: device.compliance },
    current: { authState: to === 'compliant' ? 'Good' : 'Blocked', compliance: to },
    occurredAt: change.at,
    initiatingEntity: 'policy',
    reasons: to === 'compliant' ? [] : reasons,
  }
}

/** What the publisher would do; the rules that it applies before it looks at a stream come first. */
async function decide(
  { tx, txn, at }: Change,
  stream: Stream,
  statusChange: DeviceStatusChange,
  sealer: Pick<Sealer, 'open'>,
): Promise<NewDelivery | StopRule> {
  const { previous, current } = statusChange
  if (previous.compliance === current.compliance) return 'word_unchanged'
  if (stream.status === 'disabled') return 'stream_disabled'
  if (!stream.eventsRequested.includes(DEVICE_COMPLIANCE_CHANGE)) return 'event_not_requested'
  const isWanted = await readSubjectFilter(tx, [stream], [statusChange], sealer)
  const [decision] = await dryRun(tx, () =>
    decideComplianceSets({ tx, txn, at }, stream, [statusChange], { isWanted, sealer }),
  )
  if (decision === undefined) return 'other'
  return decision.kind === 'queued' ? decision.delivery : decision.rule
}

function describeRule(rule: StopRule, stream: Stream, device: LockedDevice): string {
  switch (rule) {
    case 'word_unchanged':
      return `The device is ${device.compliance} already; events tell of changes only.`
    case 'stream_disabled':
      return 'The stream is disabled: nothing is sent and nothing is held.'
    case 'event_not_requested':
      return 'The stream has not asked for changes of device compliance.'
    case 'subject_not_included':
      return stream.defaultSubjects === 'NONE'
        ? 'The receiver has not added the device or its owner as a subject.'
        : 'The receiver has removed the device or its owner as a subject.'
    case 'no_owner':
      return 'The stream names people by email, and nobody owns the device.'
    case 'damped':
      return 'The receiver was not yet told that the device is compliant; the two changes cancel each other out.'
    case 'other':
      return 'No event would be queued.'
  }
}
