import type { Kysely } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import { appendKeys, appendNote, findLastNote } from './checkpoint-folder.ts'
import { parseCheckpoint, verifyCheckpoint } from './checkpoint.ts'
import { toVerifierKey } from './checkpoint-keys.ts'
import { listCheckpointKeys, listCheckpointsBeyond } from './checkpoint-store.ts'
import { toVerifierKeyText } from './signed-note.ts'

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
  let size = await findExportedSize(folder, origin)
  let count = 0
  for (;;) {
    const batch = await listCheckpointsBeyond(db, origin, size, BATCH_SIZE)
    if (count === 0 && batch.length > 0) await appendKeys(folder, keys.map(toVerifierKeyText))
    for (const { note, signedAt } of batch) {
      const checkpoint = parseCheckpoint(note)
      if (checkpoint === undefined || verifyCheckpoint(checkpoint, keys) === undefined) {
        throw new Error('a checkpoint in the database is not one that this log signed')
      }
      await appendNote(folder, note, signedAt)
      size = checkpoint.size
      count += 1
    }
    if (batch.length < BATCH_SIZE) return count
  }
}

/** How many entries the last checkpoint in the folder covers; 0 when it is that of another log. */
async function findExportedSize(folder: string, origin: string): Promise<number> {
  const note = await findLastNote(folder)
  const last = note === undefined ? undefined : parseCheckpoint(note)
  return last?.origin === origin ? last.size : 0
}
