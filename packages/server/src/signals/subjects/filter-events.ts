/*
 * Which events a stream is to get, after what its receiver said about subjects. Part of the transaction
 * in which events are queued; what was said is set-subject.ts's.
 */
import type { StreamRowId } from '../../schema/branded-ids.ts'
import type { Kysely } from 'kysely'
import type { DeviceStatusChange } from '../../changes/domain-event.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { toDeviceSubject } from '../sets/stream-identifiers.ts'
import type { Stream } from '../streams/stream-store.ts'
import {
  isAboutEvent,
  toEventKeys,
  toEventPrincipal,
  type EventPrincipal,
} from './subject-match.ts'
import { listStatements, type SubjectStatement } from './subject-store.ts'

/** Decides whether a stream gets the event of a status change. */
export type IsWanted = (stream: Stream, statusChange: ChangedDevice) => boolean

/** As much of a status change as a decision needs. */
interface ChangedDevice {
  /** Without an id where an event is about a person alone. */
  readonly device: Pick<DeviceStatusChange['device'], 'owner'> & { readonly id: string | null }
}

/** Far below what one statement may carry. */
const KEYS_PER_QUERY = 5_000

/**
 * Reads what was said about the subjects of status changes. Streams of which nothing was said cost
 * nothing. `sealer` opens the secrets of pairwise identifiers.
 */
export async function readSubjectFilter(
  db: Kysely<Schema>,
  streams: readonly Stream[],
  statusChanges: readonly ChangedDevice[],
  sealer: Pick<Sealer, 'open'>,
): Promise<IsWanted> {
  const filtered = streams.filter(hasFilter)
  if (filtered.length === 0) return () => true
  const keys = new Set(
    filtered.flatMap((stream) =>
      statusChanges.flatMap((statusChange) =>
        toEventKeys(toPrincipal(stream, statusChange, sealer)),
      ),
    ),
  )
  const statements = await readStatements(
    db,
    filtered.map(({ id }) => id),
    [...keys],
  )
  return (stream, statusChange) => {
    if (!hasFilter(stream)) return true
    const event = toPrincipal(stream, statusChange, sealer)
    const last = toEventKeys(event)
      .flatMap((key) => statements.get(toIndexKey(stream.id, key)) ?? [])
      .filter(({ statement }) => isAboutEvent(statement.subject, event))
      .reduce<PlacedStatement | undefined>(laterOf, undefined)
    return last?.statement.isIncluded ?? stream.defaultSubjects === 'ALL'
  }
}

/** A statement with its place in the order in which they were made. */
interface PlacedStatement {
  readonly place: number
  readonly statement: SubjectStatement
}

function laterOf(
  left: PlacedStatement | undefined,
  right: PlacedStatement,
): PlacedStatement | undefined {
  return left === undefined || right.place > left.place ? right : left
}

function hasFilter(stream: Stream): boolean {
  return stream.defaultSubjects === 'NONE' || stream.subjectCount > 0
}

/** By stream and key. Statements of one stream are read in one query of keys after the other. */
async function readStatements(
  db: Kysely<Schema>,
  streamRowIds: readonly StreamRowId[],
  keys: readonly string[],
): Promise<Map<string, PlacedStatement[]>> {
  const index = new Map<string, PlacedStatement[]>()
  for (let start = 0; start < keys.length; start += KEYS_PER_QUERY) {
    const asked = keys.slice(start, start + KEYS_PER_QUERY)
    for (const { id, ...statement } of await listStatements(db, streamRowIds, asked)) {
      for (const key of statement.matchKeys) {
        const indexKey = toIndexKey(statement.streamRowId, key)
        const placed = index.get(indexKey) ?? []
        placed.push({ place: Number(id), statement })
        index.set(indexKey, placed)
      }
    }
  }
  return index
}

function toIndexKey(streamRowId: string, key: string): string {
  return `${streamRowId} ${key}`
}

/** Whatever form the stream names its subjects in, receivers may name what it tells of. */
function toPrincipal(
  stream: Stream,
  { device }: ChangedDevice,
  sealer: Pick<Sealer, 'open'>,
): EventPrincipal {
  const named = { ...stream, subjectForm: 'complex', hasOpaqueIdentifiers: false } as const
  const subject = toDeviceSubject(named, device, sealer)
  return subject?.format === 'complex' ? toEventPrincipal(subject) : new Map()
}
