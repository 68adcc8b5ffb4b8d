/*
 * Whether the database takes writes, for those who ask whether a process is ready. Reads show a server that only
 * reads; a disk that is full shows when something is written, so that is tried after a statement has failed for it.
 */
import { sql, type Kysely } from 'kysely'
import { SECOND_MS } from '../clock.ts'
import type { DatabaseNetwork } from './database-network.ts'
import { isAccessRefusal } from './unavailable.ts'

/** Nothing can be written; the message is for the log. */
export class WritesFail extends Error {
  override readonly name = 'WritesFail'
}

const TRIAL_INTERVAL_MS = 5 * SECOND_MS
/** More than the free space that the files of a table have inside. */
const TRIAL_ROWS = 1_000

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
 * Writes something and takes it back. Where this role may not even try, the next statement that fails tells.
 *
 * @throws the error of a database in which nothing can be stored
 */
export async function tryWriting<Tables>(db: Kysely<Tables>): Promise<void> {
  try {
    await writeAndTakeBack(db)
  } catch (error) {
    if (!isAccessRefusal(error)) throw error
  }
}

async function isReadOnly<Tables>(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ is_read_only: boolean }>`
    select current_setting('transaction_read_only') = 'on' as is_read_only`.execute(db)
  return rows[0]?.is_read_only === true
}

/** A temporary table takes space where the others do, and leaves nothing. */
async function writeAndTakeBack<Tables>(db: Kysely<Tables>): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`begin`.execute(connection)
    try {
      await sql`create temporary table write_trial (content text) on commit drop`.execute(
        connection,
      )
      await sql`insert into write_trial
        select repeat('x', 1000) from generate_series(1, ${TRIAL_ROWS})`.execute(connection)
    } catch (error) {
      // Its connection may have been ended for this very error, which is the one to tell.
      await sql`rollback`.execute(connection).catch(() => undefined)
      throw error
    }
    await sql`rollback`.execute(connection)
  })
}
