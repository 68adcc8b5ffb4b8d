import type { Kysely } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import { appendKeys, appendNotes, fileOf, isProtected, listLastNotes } from './checkpoint-folder.ts'
import { parseCheckpoint, verifyCheckpoint, type Checkpoint } from './checkpoint.ts'
import { toVerifierKey } from './checkpoint-keys.ts'
import {
  listCheckpointKeys,
  listCheckpointsBeyond,
  listNextCheckpoints,
  type StoredCheckpoint,
} from './checkpoint-store.ts'
import { toVerifierKeyText, type VerifierKey } from './signed-note.ts'

const BATCH_SIZE = 500

/**
 * Writes the checkpoints to a folder that it does not have yet, with the keys that verify them, and answers
 * how many. What the file of a past month did not take is written once it does: until then later checkpoints prove the
 * same entries, so that it is no fault. Two processes with one folder may write the same one, which does no harm.
 *
 * @throws Error for a checkpoint in the database that no key of the log signed; the errors of the file system
 */
export async function exportCheckpoints(db: Kysely<Schema>, folder: string): Promise<number> {
  const records = await listCheckpointKeys(db)
  const origin = records[0]?.origin
  if (origin === undefined) return 0
  const keys = records.map(toVerifierKey)
  const own = keys.filter(({ name }) => name === origin)
  const ends = await listLastExported(folder, own)
  const files = { db, folder, origin, own }
  const missed = await findMissed(files, ends.slice(1))
  let size = ends[0]?.size ?? 0
  let count = 0
  for (;;) {
    const batch = await listCheckpointsBeyond(db, origin, size, BATCH_SIZE)
    if (count === 0 && batch.length > 0) await appendKeys(folder, keys.map(toVerifierKeyText))
    await appendSigned(files, batch)
    size = batch.at(-1)?.size ?? size
    count += batch.length
    if (batch.length < BATCH_SIZE) break
  }
  for (const end of missed) count += await exportMissed(files, end)
  return count
}

interface Files {
  readonly db: Kysely<Schema>
  readonly folder: string
  readonly origin: string
  /** The keys of the log. */
  readonly own: readonly VerifierKey[]
}

/** A folder that is new gets years of them. */
async function appendSigned(
  { folder, own }: Files,
  checkpoints: readonly StoredCheckpoint[],
): Promise<void> {
  for (const stored of checkpoints) assertSigned(stored, own)
  await appendNotes(folder, checkpoints)
}

/** Those of the last checkpoints of files behind which the database has another one of the same month. */
async function findMissed({ db, origin }: Files, ends: readonly Checkpoint[]) {
  const next = await listNextCheckpoints(
    db,
    origin,
    ends.map(({ size }) => size),
  )
  return ends.filter((end) => isOfSameFile(end, next.get(end.size)))
}

/** Writes what the file of a month lacks, and answers how many; none while the file is protected. */
async function exportMissed(files: Files, end: Checkpoint): Promise<number> {
  if (end.signedAt === null || (await isProtected(files.folder, fileOf(end.signedAt)))) return 0
  let size = end.size
  let count = 0
  for (;;) {
    const batch = await listCheckpointsBeyond(files.db, files.origin, size, BATCH_SIZE)
    const firstOther = batch.findIndex((stored) => !isOfSameFile(end, stored))
    const missed = firstOther === -1 ? batch : batch.slice(0, firstOther)
    await appendSigned(files, missed)
    size = missed.at(-1)?.size ?? size
    count += missed.length
    if (missed.length < BATCH_SIZE) return count
  }
}

function isOfSameFile(end: Checkpoint, stored: StoredCheckpoint | undefined): boolean {
  if (end.signedAt === null || stored === undefined) return false
  return fileOf(end.signedAt) === fileOf(stored.signedAt)
}

function assertSigned({ note, size }: StoredCheckpoint, keys: readonly VerifierKey[]): void {
  const checkpoint = parseCheckpoint(note)
  if (checkpoint?.size === size && verifyCheckpoint(checkpoint, keys) !== undefined) return
  throw new Error('a checkpoint in the database is not one that this log signed')
}

/**
 * The checkpoint in a folder that covers most entries, of those that one of the keys of a log signed; undefined when
 * there is none. Only the ends of the files are read.
 */
export async function findLastExported(
  folder: string,
  keys: readonly VerifierKey[],
): Promise<Checkpoint | undefined> {
  return (await listLastExported(folder, keys))[0]
}

/** The last checkpoint of each file, first the one that covers most entries. */
async function listLastExported(
  folder: string,
  keys: readonly VerifierKey[],
): Promise<Checkpoint[]> {
  const last = (await listLastNotes(folder)).flatMap((notes) => findLastTrusted(notes, keys) ?? [])
  return last.toSorted((a, b) => b.size - a.size)
}

function findLastTrusted(
  notes: readonly string[],
  keys: readonly VerifierKey[],
): Checkpoint | undefined {
  for (const note of notes.toReversed()) {
    const unverified = parseCheckpoint(note)
    const checkpoint = unverified && verifyCheckpoint(unverified, keys)
    if (checkpoint !== undefined) return checkpoint
  }
  return undefined
}
