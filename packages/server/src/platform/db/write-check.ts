/*
 * Whether the database takes writes, for those who ask whether a process is ready. Reads show a server that only
 * reads; a disk that is full shows when something is written, so that is tried after a statement has failed for it.
 */
import { sql, type Kysely } from 'kysely'
import { SECOND_MS } from '../clock.ts'
import { errorCodeOf } from '../error-code-of.ts'
import type { DatabaseNetwork } from './database-network.ts'

/** Nothing can be written; the message is for the log. */
export class WritesFail extends Error {
  override readonly name = 'WritesFail'
}

const TRIAL_INTERVAL_MS = 5 * SECOND_MS
/** The least that a server takes, so that what is more goes to its disk. */
const TRIAL_MEMORY = '64kB'
/** Some hundred kilobytes. */
const TRIAL_ROWS = 20_000

/** configuration_limit_exceeded: `temp_file_limit`. */
const LIMIT_EXCEEDED = '53400'

/**
 * A check that rejects while nothing can be written. As long as no statement fails it costs one that reads a setting.
 *
 * @throws WritesFail
 */
export function createWriteCheck<Tables>(
  db: Kysely<Tables>,
  network: Pick<DatabaseNetwork, 'writeFault' | 'forgetWriteFault'>,
): () => Promise<void> {
  let triedMs = -Infinity
  return async () => {
    if (await isReadOnly(db)) throw new WritesFail('the database only reads')
    const fault = network.writeFault()
    if (fault === undefined) return
    if (performance.now() - triedMs >= TRIAL_INTERVAL_MS) {
      await tryToWrite(db)
      network.forgetWriteFault()
      return
    }
    throw new WritesFail(`${fault.message} ${fault.advice}`)
  }

  async function tryToWrite(db: Kysely<Tables>): Promise<void> {
    triedMs = performance.now()
    try {
      await tryWriting(db)
      triedMs = -Infinity
    } catch (error) {
      throw new WritesFail(network.writeFault()?.message, { cause: error })
    }
  }
}

/**
 * Has the server put something on its disk that is gone with the statement: what a query needs beyond the memory that
 * it may take. Every role may do so, also one that only reads; no table changes, and nothing is left behind. Where the
 * server allows no such file (`temp_file_limit`) it tells nothing, and passes.
 *
 * @throws the error of a disk that takes nothing
 */
export async function tryWriting<Tables>(db: Kysely<Tables>): Promise<void> {
  const trial = db.transaction().execute(async (tx) => {
    await sql`select set_config('work_mem', ${TRIAL_MEMORY}, true)`.execute(tx)
    // Rows of a function are gathered before they are read.
    await sql`select count(*) from generate_series(1, ${TRIAL_ROWS}::integer)`.execute(tx)
  })
  await trial.catch((error: unknown) => {
    if (errorCodeOf(error) !== LIMIT_EXCEEDED) throw error
  })
}

/** Whether a transaction cannot write, for whatever reason. */
export async function isReadOnly<Tables>(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ is_read_only: boolean }>`
    select current_setting('transaction_read_only') = 'on' as is_read_only`.execute(db)
  return rows[0]?.is_read_only === true
}
