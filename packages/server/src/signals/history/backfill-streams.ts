/*
 * Backfill: a stream is sent the last change of every device, with the time at which it happened.
 * Goes in small steps that are durable each, so that neither a crash nor 50,000 devices matter.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Change } from '../../changes/change.ts'
import type { StreamContext } from '../streams/stream-context.ts'
import type { DeviceStatusChange, StatusReason } from '../../changes/domain-event.ts'
import { lockDevices, type LockedDevice } from '../../posture/devices/device-status-store.ts'
import { listDeviceIds } from '../../posture/devices/device-store.ts'
import { toDeviceOfChange } from '../../posture/devices/to-device-of-change.ts'
import { AppError } from '../../platform/app-error.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { queueDeliveries } from '../dispatch/delivery-store.ts'
import { toComplianceDelivery } from '../sets/ssf-publisher.ts'
import { getStream, type Stream } from '../streams/stream-store.ts'
import { isRequested } from '../streams/unrequested-event-store.ts'
import { readSubjectFilter } from '../subjects/filter-events.ts'
import {
  advanceBackfill,
  claimBackfill,
  deleteBackfill,
  insertBackfill,
  isBackfillWaiting,
  listUnpublishedChanges,
  type Backfill,
  type LastChange,
} from './backfill-store.ts'
import { readBlockingReasons } from './blocking-reasons.ts'

/** Few enough that the devices of a step are not locked for long. */
const STEP_DEVICES = 200

/**
 * Asks for the backfill of a stream; the worker does it soon after the commit. All its events share
 * the `txn` of this change.
 *
 * @throws AppError `conflict` for a stream that is disabled or asks for no compliance changes
 */
export async function requestBackfill(change: Change, stream: Stream): Promise<void> {
  if (stream.status === 'disabled') {
    throw new AppError('conflict', 'A disabled stream sends nothing; enable it first.')
  }
  if (!isRequested(stream, DEVICE_COMPLIANCE_CHANGE)) {
    throw new AppError('conflict', 'The stream asks for no compliance changes.')
  }
  await insertBackfill(change, {
    ssfStreamId: stream.id,
    txn: change.txn,
    requestedAt: change.at,
  })
  change.recordAudit({
    action: 'ssf_stream.backfill_requested',
    target: { type: 'ssf_stream', id: stream.id },
    description: `asked for the last change of every device on the stream ${stream.name}`,
  })
}

/**
 * Does every backfill that waits, and answers undefined once none does. Any number of processes may
 * call it at the same time.
 */
export async function backfillStreams({
  db,
  runChange,
  sealer,
}: Pick<StreamContext, 'db' | 'runChange' | 'sealer'>): Promise<undefined> {
  while (await isBackfillWaiting(db)) {
    const isDone = await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      const backfill = await claimBackfill(change.tx)
      if (backfill === undefined) return false
      await takeStep(change, backfill, sealer)
      return true
    })
    // Another worker is at it.
    if (!isDone) return undefined
  }
  return undefined
}

async function takeStep(
  change: Change,
  backfill: Backfill,
  sealer: Pick<Sealer, 'open'>,
): Promise<void> {
  const { tx } = change
  const stream = await getStream(tx, { id: backfill.ssfStreamId })
  const deviceIds = await listDeviceIds(tx, backfill.afterDeviceId, STEP_DEVICES)
  const lastId = deviceIds.at(-1)
  const isTold = stream.status !== 'disabled' && isRequested(stream, DEVICE_COMPLIANCE_CHANGE)
  if (lastId === undefined || !isTold) {
    await finish(change, backfill, stream)
    return
  }
  const devices = await lockDevices(tx, deviceIds)
  const changes = await listUnpublishedChanges(tx, deviceIds, stream.destinationId)
  const statusChanges = await toStatusChanges(change, devices, changes)
  const isWanted = await readSubjectFilter(tx, [stream], statusChanges, sealer)
  const cause = { ...change, txn: backfill.txn }
  const deliveries = statusChanges
    .filter((statusChange) => isWanted(stream, statusChange))
    .flatMap((statusChange) => toComplianceDelivery(cause, stream, statusChange, sealer) ?? [])
  await queueDeliveries(cause, deliveries)
  await advanceBackfill(tx, backfill.id, {
    afterDeviceId: lastId,
    queuedCount: backfill.queuedCount + deliveries.length,
  })
}

async function finish(change: Change, backfill: Backfill, stream: Stream): Promise<void> {
  await deleteBackfill(change.tx, backfill.id)
  change.recordAudit({
    action: 'ssf_stream.backfilled',
    target: { type: 'ssf_stream', id: stream.id },
    description: `queued the last change of ${backfill.queuedCount} devices for the stream ${stream.name}`,
    after: { count: backfill.queuedCount, txn: backfill.txn },
  })
}

async function toStatusChanges(
  { tx, at }: Change,
  devices: readonly LockedDevice[],
  changes: readonly LastChange[],
): Promise<DeviceStatusChange[]> {
  const deviceOf = new Map(devices.map((device) => [device.id, device]))
  const bad = changes.filter(({ toCompliance }) => toCompliance === 'not-compliant')
  const reasonsOf = await readBlockingReasons(
    { tx, at },
    bad.map(({ deviceId }) => deviceId),
  )
  return changes.flatMap((last) => {
    const device = deviceOf.get(last.deviceId)
    if (device === undefined) return []
    return [toStatusChange(device, last, reasonsOf.get(device.id) ?? [])]
  })
}

function toStatusChange(
  device: LockedDevice,
  last: LastChange,
  reasons: readonly StatusReason[],
): DeviceStatusChange {
  return {
    device: toDeviceOfChange(device),
    previous: { authState: last.fromState, compliance: last.fromCompliance },
    current: { authState: last.toState, compliance: last.toCompliance },
    occurredAt: last.occurredAt,
    initiatingEntity: last.initiatingEntity,
    reasons,
  }
}
