/*
 * Restatement: the receivers of all streams are told the present status of every device anew, because the database
 * may be older than what they know: it was restored, or a standby took over that had not everything. A device is
 * told of as soon as it has answered its checks again, so that nobody is told what is outdated by then; one that does
 * not answer, after a while. Goes in small steps that are durable each. Rests while a stream asks for no compliance
 * changes.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Change } from '../../changes/change.ts'
import type { DeviceStatusChange, StatusReason } from '../../changes/domain-event.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { endEveryRound } from '../../posture/checks/round-store.ts'
import { lockDevices, type LockedDevice } from '../../posture/devices/device-status-store.ts'
import { toDeviceOfChange } from '../../posture/devices/to-device-of-change.ts'
import type { StreamRowId } from '../../schema/branded-ids.ts'
import { queueDeliveries } from '../dispatch/delivery-store.ts'
import { toComplianceDelivery } from '../sets/ssf-publisher.ts'
import { getStream, type Stream } from '../streams/stream-store.ts'
import { isRequested } from '../streams/unrequested-event-store.ts'
import { readSubjectFilter } from '../subjects/filter-events.ts'
import { findTransitionsSince } from './recent-transition-store.ts'
import { readBlockingReasons } from './blocking-reasons.ts'
import {
  advanceRestatement,
  beginNextPass,
  beginPasses,
  claimRestatement,
  deleteRestatement,
  insertRestatements,
  isRestatementWaiting,
  listUntoldDeviceIds,
  type Restatement,
} from './restatement-store.ts'

export interface RestatementDependencies extends Pick<Foundation, 'db' | 'runChange' | 'clock'> {
  /** Opens the secrets of pairwise identifiers. */
  readonly sealer: Pick<Sealer, 'open'>
}

/** Few enough that the devices of a step are not locked for long. */
const STEP_DEVICES = 200
/** Devices that are awake answer within a minute or two; the others are told of as the database knows them. */
const ANSWERS_WAIT_MS = 15 * MINUTE_MS
/** Between two passes over the devices. */
const PASS_INTERVAL_MS = 5 * SECOND_MS

/**
 * Has every stream tell everything anew, and makes the checks of all devices due at once. Workers do it after the
 * commit, or when one starts. Answers for how many streams. Locks every device.
 */
export async function requestRestatement(change: Change): Promise<number> {
  await endEveryRound(change.tx)
  return insertRestatements(change, { ...change, sinceTransitionId: null })
}

/**
 * Has every stream tell anew of the devices whose status changed since a time. Answers for how many devices; of none
 * nothing is told.
 */
export async function requestRecentRestatement(change: Change, since: Date): Promise<number> {
  const { firstId, deviceCount } = await findTransitionsSince(change.tx, since)
  if (firstId !== null) {
    await insertRestatements(change, { ...change, sinceTransitionId: firstId })
  }
  return deviceCount
}

/**
 * Makes one pass over the devices for every stream that tells everything anew. Answers when to come again; undefined
 * when nothing is left. Any number of processes may call it at the same time.
 */
export async function restateStreams(
  dependencies: RestatementDependencies,
): Promise<Date | undefined> {
  const { db, clock, runChange, sealer } = dependencies
  const doneIds: StreamRowId[] = []
  while (await isRestatementWaiting(db)) {
    const step = await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      const restatement = await claimRestatement(change.tx, doneIds)
      if (restatement === undefined) return undefined
      const isPassOver = await takeStep(change, restatement, sealer)
      return { id: restatement.ssfStreamId, isPassOver }
    })
    if (step === undefined) return new Date(clock.now().getTime() + PASS_INTERVAL_MS)
    if (step.isPassOver) doneIds.push(step.id)
  }
  return undefined
}

/** Answers whether the pass is over. */
async function takeStep(
  change: Change,
  restatement: Restatement,
  sealer: Pick<Sealer, 'open'>,
): Promise<boolean> {
  const { tx } = change
  const { ssfStreamId: id } = restatement
  const stream = await getStream(tx, { id })
  if (stream.status === 'disabled') {
    await finish(change, restatement, stream)
    return true
  }
  // It has ceased to ask this moment.
  if (!isRequested(stream, DEVICE_COMPLIANCE_CHANGE)) return true
  await beginPasses(tx, id, ANSWERS_WAIT_MS)
  const deviceIds = await listUntoldDeviceIds(tx, restatement, stream.destinationId, STEP_DEVICES)
  const lastId = deviceIds.at(-1)
  if (lastId === undefined) {
    if (restatement.isLastPass) await finish(change, restatement, stream)
    else await beginNextPass(tx, id, ANSWERS_WAIT_MS)
    return true
  }
  const queuedCount = await tellDevices(change, restatement, { stream, deviceIds, sealer })
  const toldCount = restatement.toldCount + queuedCount
  await advanceRestatement(tx, id, { afterDeviceId: lastId, toldCount })
  return false
}

interface Telling {
  readonly stream: Stream
  readonly deviceIds: readonly string[]
  readonly sealer: Pick<Sealer, 'open'>
}

async function tellDevices(
  change: Change,
  { txn }: Restatement,
  { stream, deviceIds, sealer }: Telling,
): Promise<number> {
  const { tx } = change
  const devices = await lockDevices(tx, deviceIds)
  const bad = devices.filter(({ compliance }) => compliance === 'not-compliant')
  const reasonsOf = await readBlockingReasons(
    change,
    bad.map((device) => device.id),
  )
  const statements = devices.map((device) =>
    toStatement(device, change.now(), reasonsOf.get(device.id) ?? []),
  )
  const isWanted = await readSubjectFilter(tx, [stream], statements, sealer)
  const cause = { ...change, txn }
  const deliveries = statements
    .filter((statement) => isWanted(stream, statement))
    .flatMap((statement) => toComplianceDelivery(cause, stream, statement, sealer) ?? [])
  await queueDeliveries(cause, deliveries)
  return deliveries.length
}

/**
 * The present status as a change of this moment: what receivers know is older, whatever they were told since. CAEP
 * wants a previous status (CAEP 1.0 section 3.5.1); the other word is what it corrects.
 */
function toStatement(
  device: LockedDevice,
  occurredAt: Date,
  reasons: readonly StatusReason[],
): DeviceStatusChange {
  const { authState, compliance } = device
  const other = compliance === 'compliant' ? 'not-compliant' : 'compliant'
  return {
    device: toDeviceOfChange(device),
    previous: { authState, compliance: other },
    current: { authState, compliance },
    occurredAt,
    initiatingEntity: 'system',
    reasons,
    isRestated: true,
  }
}

async function finish(
  change: Change,
  { ssfStreamId: id, toldCount, txn }: Restatement,
  stream: Stream,
): Promise<void> {
  await deleteRestatement(change.tx, id)
  change.recordAudit({
    action: 'ssf_stream.restated',
    target: { type: 'ssf_stream', id },
    description: `told the present status of ${toldCount} devices anew on the stream ${stream.name}`,
    after: { count: toldCount, txn },
  })
}
