/*
 * Turns changed device statuses into queued SETs, in the same transaction. The only place where
 * compliance events begin; sending them is the delivery engine's.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import type { Change } from '../../changes/change.ts'
import {
  enqueueDeliveries,
  type NewDelivery,
  type WakeDelivery,
} from '../dispatch/enqueue-deliveries.ts'
import type { OnDeviceStatusChanged } from '../../posture/devices/device-status-change.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { dampNews, type News } from '../history/damping.ts'
import { toComplianceClaims } from './set-claims.ts'
import { listReceivingStreams, type Stream } from '../streams/stream-store.ts'
import { readSubjectFilter } from '../subjects/filter-events.ts'

export interface EnqueueSetsDependencies {
  /** Wakes the delivery of this process after the commit; others hear the notification. */
  readonly wake?: WakeDelivery
  /** Opens the secrets of pairwise identifiers; without it a stream that has them cannot be served. */
  readonly sealer?: Pick<Sealer, 'open'>
}

/** How many deliveries one statement queues: far below the number of parameters that it may have. */
const BATCH_SIZE = 1_000

/**
 * Creates the reaction that queues, for each device whose word of compliance has changed, one SET per
 * stream that asked for compliance changes, is not disabled, and whose receiver wants the subject. The
 * caller holds the locks of the devices, which orders the events of a device.
 */
export function createEnqueueSets(
  dependencies: EnqueueSetsDependencies = {},
): OnDeviceStatusChanged {
  return async (change, statusChanges) => {
    const moved = statusChanges.filter(
      ({ previous, current }) => previous.compliance !== current.compliance,
    )
    if (moved.length === 0) return
    const streams = await listReceivingStreams(change.tx, DEVICE_COMPLIANCE_CHANGE)
    const isWanted = await readSubjectFilter(change.tx, streams, moved, dependencies.sealer)
    const told = await Promise.all(
      streams.map(async (stream) => {
        const wanted = moved.filter((statusChange) => isWanted(stream, statusChange))
        return { stream, news: await dampNews(change, stream, wanted) }
      }),
    )
    await queueComplianceSets(change, told, dependencies)
  }
}

/** Changes of compliance that one stream is to be told of. */
export interface StreamNews {
  readonly stream: Stream
  readonly news: readonly News[]
}

/**
 * Queues one SET per change and stream that wants to hear of its subject, in the order of the changes,
 * and answers how many.
 */
export async function queueComplianceSets(
  change: Change,
  told: readonly StreamNews[],
  { wake = () => undefined, sealer }: EnqueueSetsDependencies,
): Promise<number> {
  const isWanted = await readSubjectFilter(
    change.tx,
    told.map(({ stream }) => stream),
    told.flatMap(({ news }) => news.map(({ statusChange }) => statusChange)),
    sealer,
  )
  const deliveries = told.flatMap(({ stream, news }) =>
    news
      .filter(({ statusChange }) => isWanted(stream, statusChange))
      .flatMap((item) => toDelivery(change, stream, item, sealer) ?? []),
  )
  for (let start = 0; start < deliveries.length; start += BATCH_SIZE) {
    await enqueueDeliveries(change, deliveries.slice(start, start + BATCH_SIZE), wake)
  }
  return deliveries.length
}

function toDelivery(
  change: Change,
  stream: Stream,
  { statusChange, dueAt }: News,
  sealer: Pick<Sealer, 'open'> | undefined,
): NewDelivery | undefined {
  const eventId = newUuid()
  const body = toComplianceClaims(stream, eventId, statusChange, change, sealer)
  if (body === undefined) return undefined
  return {
    destinationId: stream.destinationId,
    eventId,
    eventType: DEVICE_COMPLIANCE_CHANGE,
    subjectKey: `device:${statusChange.device.id}`,
    body,
    ...(dueAt === undefined ? {} : { dueAt }),
  }
}
