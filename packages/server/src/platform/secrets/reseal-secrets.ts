/*
 * Seals every secret of some columns under the current master key, after it was changed. What is done is in the
 * secrets themselves: a run that was broken off is taken up by the next one, and any number may run at once,
 * beside a service that holds both keys.
 */
import type { Kysely } from 'kysely'
import { UnsealError, type Sealer } from './sealed-box.ts'
import {
  countSealed,
  listOtherwiseSealedForUpdate,
  updateSealed,
  type SealedColumn,
  type SealedCount,
} from './sealed-column-store.ts'

export interface ResealDependencies<Database> {
  readonly db: Kysely<Database>
  readonly sealer: Pick<Sealer, 'rewrap'>
  /** The id of the current master key. */
  readonly keyId: Buffer
  readonly columns: readonly SealedColumn[]
}

export interface ResealReport {
  /** How many secrets this run sealed under the current key. */
  readonly resealed: number
  /** What is sealed under other keys still, or again. */
  readonly remaining: readonly SealedCount[]
}

export interface ResealProgress {
  readonly column: SealedColumn
  readonly resealed: number
}

/** Short enough that nobody notices the locks. */
const BATCH_SIZE = 100
/** A process that still seals under the former key would give a run work without end. */
const PASSES_MAX = 3

/**
 * Seals the secrets anew, a batch in a transaction. Those whose key is not known, or that are damaged, stay as
 * they are and are reported. Once `signal` is aborted, the run ends with the batch that it is in.
 */
export async function resealSecrets<Database>(
  dependencies: ResealDependencies<Database>,
  signal: AbortSignal,
  onProgress: (progress: ResealProgress) => void,
): Promise<ResealReport> {
  let resealed = 0
  for (let pass = 1; pass <= PASSES_MAX; pass += 1) {
    const before = resealed
    for (const column of dependencies.columns) {
      await resealColumn(dependencies, column, (count) => {
        resealed += count
        onProgress({ column, resealed })
        return !signal.aborted
      })
    }
    if (resealed === before || signal.aborted) break
  }
  return { resealed, remaining: await listRemaining(dependencies) }
}

/** How many secrets each master key seals, by column. */
export async function countSealedSecrets<Database>({
  db,
  columns,
}: Pick<ResealDependencies<Database>, 'db' | 'columns'>): Promise<SealedCount[]> {
  const counts: SealedCount[] = []
  for (const column of columns) counts.push(...(await countSealed(db, column)))
  return counts
}

async function listRemaining<Database>(
  dependencies: ResealDependencies<Database>,
): Promise<SealedCount[]> {
  const current = dependencies.keyId.toString('hex')
  return (await countSealedSecrets(dependencies)).filter(({ keyId }) => keyId !== current)
}

/** `onBatch` answers whether to go on. */
async function resealColumn<Database>(
  { db, sealer, keyId }: ResealDependencies<Database>,
  column: SealedColumn,
  onBatch: (count: number) => boolean,
): Promise<void> {
  let afterKey: unknown
  for (;;) {
    const batch = await db.transaction().execute(async (tx) => {
      const search = { keyId, afterKey, limit: BATCH_SIZE }
      const rows = await listOtherwiseSealedForUpdate(tx, column, search)
      let count = 0
      for (const { rowKey, sealed } of rows) {
        const next = rewrap(sealer, sealed)
        if (next === undefined) continue
        await updateSealed(tx, column, { rowKey, sealed: next })
        count += 1
      }
      return { count, size: rows.length, lastKey: rows.at(-1)?.rowKey }
    })
    if (!onBatch(batch.count) || batch.size < BATCH_SIZE) return
    afterKey = batch.lastKey
  }
}

function rewrap(sealer: Pick<Sealer, 'rewrap'>, sealed: Buffer): Buffer | undefined {
  try {
    return sealer.rewrap(sealed)
  } catch (error) {
    if (error instanceof UnsealError) return undefined
    throw error
  }
}
