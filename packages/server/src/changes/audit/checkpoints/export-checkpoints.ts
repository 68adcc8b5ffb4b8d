import type { Kysely } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import { appendKeys, appendNotes, listLastNotes } from './checkpoint-folder.ts'
import { parseCheckpoint, verifyCheckpoint, type Checkpoint } from './checkpoint.ts'
import { toVerifierKey } from './checkpoint-keys.ts'
import {
  listCheckpointKeys,
  listCheckpointsBeyond,
  type StoredCheckpoint,
} from './checkpoint-store.ts'
import { toVerifierKeyText, type VerifierKey } from './signed-note.ts'

const BATCH_SIZE = 500

/**
 * Writes the checkpoints to a folder that it does not have yet, with the keys that verify them, and answers
 * how many. Two processes with one folder may write the same one, which does no harm.
 *
 * @throws Error for a checkpoint in the database that no key of the log signed; the errors of the file system
 */
export async function exportCheckpoints(db: Kysely<Schema>, folder: string): Promise<number> {
  const records = await listCheckpointKeys(db)
  const origin = records[0]?.origin
  if (origin === undefined) return 0
  const keys = records.map(toVerifierKey)
  const own = keys.filter(({ name }) => name === origin)
  let size = (await findLastExported(folder, own))?.size ?? 0
  let count = 0
  for (;;) {
    const batch = await listCheckpointsBeyond(db, origin, size, BATCH_SIZE)
    if (count === 0 && batch.length > 0) await appendKeys(folder, keys.map(toVerifierKeyText))
    for (const stored of batch) assertSigned(stored, own)
    // A folder that is new gets years of them.
    await appendNotes(folder, batch)
    size = batch.at(-1)?.size ?? size
    count += batch.length
    if (batch.length < BATCH_SIZE) return count
  }
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
  const last = (await listLastNotes(folder)).flatMap((notes) => findLastTrusted(notes, keys) ?? [])
  return last.toSorted((a, b) => b.size - a.size)[0]
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
