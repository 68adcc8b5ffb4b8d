/*
 * The present compliance of every device of a stream, for receivers that join late or have missed
 * something: CAEP tells changes only. Reads one consistent moment per page.
 */
import {
  DEVICE_COMPLIANCE_CHANGE,
  type StreamState,
  type StreamSubjectState,
} from '@heliograph/ssf'
import type { DeviceStatusChange } from '../../changes/domain-event.ts'
import { toEpochSeconds } from '../../platform/clock.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { toDeviceSubject } from '../sets/stream-identifiers.ts'
import type { StreamContext } from '../streams/stream-context.ts'
import type { Stream } from '../streams/stream-store.ts'
import { readSubjectFilter } from '../subjects/filter-events.ts'
import { numberAllWaitingSets, toNumberedStream } from './number-sets.ts'
import { findLastSequence } from './sequence-store.ts'
import { listDeviceStates, type DeviceState, type StateWindow } from './stream-state-read.ts'

/** A page of the state, and the device at which it ends; null on the last page. */
export interface StatePage {
  readonly state: Omit<StreamState, 'next_cursor'>
  readonly lastId: string | null
}

/**
 * A page of the present status of the devices that the events of a stream can be about, by ascending
 * id. Devices that the stream cannot name, because nobody owns them, are left out.
 */
export async function readStreamState(
  stream: Stream,
  window: StateWindow,
  { db, clock, sealer }: Pick<StreamContext, 'db' | 'clock' | 'sealer'>,
): Promise<StatePage> {
  // What has committed but was not numbered yet would else seem to come after the state.
  await numberAllWaitingSets(db, toNumberedStream(stream))
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const asOfSequence = await findLastSequence(tx, stream.id)
      const devices = await listDeviceStates(tx, stream.destinationId, {
        ...window,
        limit: window.limit + 1,
      })
      const page = devices.slice(0, window.limit).map(toSubject)
      const isWanted = await readSubjectFilter(tx, [stream], page, sealer)
      const wanted = page.filter((subject) => isWanted(stream, subject))
      return {
        state: {
          as_of_sequence: asOfSequence,
          as_of: toEpochSeconds(clock.now()),
          subjects: wanted.flatMap((subject) => toSubjectState(stream, subject, sealer) ?? []),
        },
        lastId: devices.length > page.length ? (page.at(-1)?.device.id ?? null) : null,
      }
    })
}

interface StateSubject {
  readonly row: DeviceState
  readonly device: DeviceStatusChange['device']
}

function toSubject(row: DeviceState): StateSubject {
  const { id, name, platform, personId, email } = row
  const owner = personId === null || email === null ? null : { personId, email }
  return { row, device: { id, name, platform, owner } }
}

function toSubjectState(
  stream: Stream,
  { row, device }: StateSubject,
  sealer: Pick<Sealer, 'open'>,
): StreamSubjectState | undefined {
  const subject = toDeviceSubject(stream, device, sealer)
  if (subject === undefined) return undefined
  const isPublished = publishedStatus(row.body) === row.compliance
  return {
    sub_id: subject,
    status: row.compliance,
    event_timestamp: toEpochSeconds(row.changedAt ?? row.knownSince),
    jti: isPublished ? row.jti : null,
    sequence: isPublished && row.sequence !== null ? Number(row.sequence) : null,
  }
}

/** The status that the last event about a device published; undefined also when its content is no longer kept. */
function publishedStatus(body: string | null): string | undefined {
  if (body === null || body === '') return undefined
  const { events } = JSON.parse(body) as {
    events: Record<string, { current_status?: string } | undefined>
  }
  return events[DEVICE_COMPLIANCE_CHANGE]?.current_status
}
