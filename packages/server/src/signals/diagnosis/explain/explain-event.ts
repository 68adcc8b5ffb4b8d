/*
 * Says what a stream would get if a device's word of compliance turned now, and if nothing, why. The event
 * is queued by the same reaction as every real one, behind a savepoint that is rolled back at once: what
 * is shown cannot differ from what would be sent.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { sql } from 'kysely'
import type { Change } from '../../../changes/change.ts'
import {
  toDeviceOfChange,
  type DeviceStatusChange,
  type OnDeviceStatusChanged,
} from '../../../posture/devices/device-status-change.ts'
import { lockDevices, type LockedDevice } from '../../../posture/devices/device-status-store.ts'
import { evaluateDeviceStatus } from '../../../posture/devices/evaluate-device-status.ts'
import { listStatusIssues } from '../../../posture/issues/issue-store.ts'
import type { Compliance } from '../../../schema/status-values.ts'
import { notFound } from '../../../platform/http/wire-values.ts'
import type { Sealer } from '../../../platform/secrets/sealed-box.ts'
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

export interface ExplainDependencies {
  readonly onDeviceStatusChanged: OnDeviceStatusChanged
  readonly sealer: Pick<Sealer, 'open'>
}

/** The turn that is asked about. */
export interface ImaginedTurn {
  readonly deviceId: string
  readonly to: Compliance
}

/**
 * Explains what would happen. Writes nothing that lasts; locks the device until the change ends.
 *
 * @throws AppError `not_found` for an unknown device
 */
export async function explainEvent(
  change: Change,
  stream: Stream,
  { deviceId, to }: ImaginedTurn,
  dependencies: ExplainDependencies,
): Promise<Explanation> {
  const [device] = await lockDevices(change.tx, [deviceId])
  if (device === undefined) throw notFound('device', deviceId)
  const statusChange = await imagineChange(change, device, to)
  const queued = await queueAndTakeBack(change, stream, statusChange, dependencies)
  if (queued === undefined) {
    const rule = await findStopRule(change, stream, statusChange, dependencies)
    return { outcome: 'stopped', rule, reason: describeRule(rule, stream, device) }
  }
  const claims = JSON.parse(queued.body) as Record<string, unknown>
  // A real event is given its id when it is queued.
  delete claims['jti']
  const isDelayed = queued.dueAt > change.at
  const outcome = stream.status === 'paused' ? 'held' : isDelayed ? 'delayed' : 'sent'
  return { outcome, claims, dueAt: queued.dueAt }
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

/** What the stream would get; undefined when nothing. Effects of the imagined change are dropped. */
async function queueAndTakeBack(
  change: Change,
  stream: Stream,
  statusChange: DeviceStatusChange,
  { onDeviceStatusChanged }: ExplainDependencies,
): Promise<{ readonly body: string; readonly dueAt: Date } | undefined> {
  const { tx } = change
  await sql`savepoint explanation`.execute(tx)
  const last = await tx
    .selectFrom('delivery')
    .select((select) => select.fn.max('id').as('id'))
    .where('destination_id', '=', stream.destinationId)
    .executeTakeFirst()
  const imagined = { ...change, recordAudit: () => undefined, afterCommit: () => undefined }
  await onDeviceStatusChanged(imagined, [statusChange])
  const queued = await tx
    .selectFrom('delivery')
    .select(['body', 'next_attempt_at'])
    .where('destination_id', '=', stream.destinationId)
    .where('event_type', '=', DEVICE_COMPLIANCE_CHANGE)
    .where('id', '>', last?.id ?? '0')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  await sql`rollback to savepoint explanation`.execute(tx)
  // What follows belongs to the change itself again, not to a transaction inside it.
  await sql`release savepoint explanation`.execute(tx)
  return queued === undefined ? undefined : { body: queued.body, dueAt: queued.next_attempt_at }
}

async function findStopRule(
  change: Change,
  stream: Stream,
  statusChange: DeviceStatusChange,
  { sealer }: ExplainDependencies,
): Promise<StopRule> {
  const { previous, current, device } = statusChange
  if (previous.compliance === current.compliance) return 'word_unchanged'
  if (stream.status === 'disabled') return 'stream_disabled'
  if (!stream.eventsRequested.includes(DEVICE_COMPLIANCE_CHANGE)) return 'event_not_requested'
  const isWanted = await readSubjectFilter(change.tx, [stream], [statusChange], sealer)
  if (!isWanted(stream, statusChange)) return 'subject_not_included'
  if (stream.subjectForm === 'email' && device.owner === null) return 'no_owner'
  return stream.debounceSeconds > 0 ? 'damped' : 'other'
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
