/*
 * Gathers the checkpoints that the audit log is verified with: those of the database, of the folder that they
 * leave it into, and of files that somebody kept elsewhere. Owns which of them are believed.
 */
import type { Kysely } from 'kysely'
import { AppError } from '../../../platform/app-error.ts'
import type { Schema } from '../../../schema/schema.ts'
import { readCheckpointTexts } from './checkpoint-folder.ts'
import {
  parseCheckpoint,
  verifyCheckpoint,
  type Checkpoint,
  type UnverifiedCheckpoint,
} from './checkpoint.ts'
import { listVerifierKeys } from './checkpoint-keys.ts'
import { listCheckpointNotes } from './checkpoint-store.ts'
import { parseVerifierKey, type VerifierKey } from './signed-note.ts'

export interface CheckpointSources {
  /** Where the service writes checkpoints. */
  readonly folder: string
  /** Files or folders of checkpoints that were kept elsewhere. */
  readonly paths: readonly string[]
  /** The keys to believe, from elsewhere; none are those of the folder and of the database. */
  readonly keys: readonly VerifierKey[]
}

export interface CollectedCheckpoints {
  readonly checkpoints: readonly Checkpoint[]
  /** The first checkpoint that no known key signed, or that none was found, in words. */
  readonly problem: string | undefined
  /** Checkpoints of the folder and the files, without those that the database has alone. */
  readonly outsideCount: number
}

/**
 * Reads and verifies the checkpoints. With keys from elsewhere, checkpoints by other keys are left out, and it is a
 * problem when none is left; otherwise one that no known key signed is one, because somebody changed it or the keys.
 *
 * @throws AppError `not_found` for files that cannot be read, and for given ones that hold no checkpoint
 */
export async function collectCheckpoints(
  db: Kysely<Schema>,
  { folder, paths, keys: given }: CheckpointSources,
): Promise<CollectedCheckpoints> {
  const texts = await Promise.all([folder, ...paths].map(readCheckpointTexts))
  const empty = paths.find((_path, index) => texts[index + 1]?.notes.length === 0)
  if (empty !== undefined) {
    throw new AppError('not_found', `There is no checkpoint in ${empty}.`)
  }
  const inFolder = texts.flatMap(({ keys }) => keys).flatMap((text) => parseVerifierKey(text) ?? [])
  const keys = given.length > 0 ? given : [...inFolder, ...(await listVerifierKeys(db))]
  const outside = texts.flatMap(({ notes }) => notes)
  const checkpoints = new Map<string, Checkpoint>()
  let problem: string | undefined
  for (const note of new Set([...outside, ...(await listCheckpointNotes(db))])) {
    const unverified = parseCheckpoint(note)
    const checkpoint = unverified && verifyCheckpoint(unverified, keys)
    if (checkpoint !== undefined) checkpoints.set(note, checkpoint)
    else if (given.length === 0) problem ??= describeUnbelieved(unverified)
  }
  if (given.length > 0 && checkpoints.size === 0) {
    problem = 'no checkpoint is signed by the given key'
  }
  const outsideCount = new Set(outside.filter((note) => checkpoints.has(note))).size
  return { checkpoints: [...checkpoints.values()], problem, outsideCount }
}

function describeUnbelieved(checkpoint: UnverifiedCheckpoint | undefined): string {
  if (checkpoint === undefined) return 'a checkpoint cannot be read'
  const { origin, size } = checkpoint
  return `a checkpoint of ${origin} over ${size} entries is not signed by a key of this log`
}
