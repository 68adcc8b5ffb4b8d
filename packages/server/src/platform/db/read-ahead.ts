/*
 * A read that goes to the database along with the statement that lets its request through, so that both take one round
 * trip; nobody is held up for long by what another reads. Owns what is read, and that only the statement it was read by
 * is answered by it; who may see it is decided before anybody looks.
 */
import type { CompiledQuery, Kysely } from 'kysely'
import { runsTogether, toPreparedDb } from './database.ts'

/** A statement that may be run before it is known whether its request is let through. */
export interface AheadStatement {
  /** The connections that it may go by. */
  readonly db: object
  readonly statement: CompiledQuery
  /** How many rows it answers at most. */
  readonly rowsMax: number
}

/** A statement that is on its way. */
export interface ReadAhead {
  readonly statement: CompiledQuery
  readonly rows: Promise<readonly object[]>
  /** How far the reads are that it is one of; undefined for the first, which waits for nobody else's. */
  readonly progress: { readonly endedCount: number } | undefined
}

/** How long somebody waits behind reads of others of which none ends. */
const BEHIND_ANOTHER_MAX_MS = 250

/** The statement, where statements by `db` may go along with others. */
export function toAhead<Tables>(
  db: Kysely<Tables>,
  toStatement: (db: Kysely<Tables>) => CompiledQuery,
  rowsMax: number,
): AheadStatement | undefined {
  const preparedDb = toPreparedDb(db)
  if (!runsTogether(preparedDb)) return undefined
  return { db: preparedDb, statement: toStatement(preparedDb), rowsMax }
}

/**
 * The rows of a statement: what it answers where it is on its way, or what it answers now, prepared. One that waits for
 * long behind a read of another is not waited for.
 */
export async function readRows<Row, Tables>(
  db: Kysely<Tables>,
  statement: CompiledQuery,
  ahead: ReadAhead | undefined,
): Promise<readonly Row[]> {
  const isAhead = ahead !== undefined && isSame(ahead.statement, statement)
  const rowsAhead = isAhead ? await rowsInTime(ahead) : undefined
  if (rowsAhead !== undefined) return rowsAhead as readonly Row[]
  const { rows } = await toPreparedDb(db).executeQuery<Row>(statement)
  return rows
}

/** Undefined when the read before it takes too long; those that end one after the other may take longer together. */
function rowsInTime({ rows, progress }: ReadAhead): Promise<readonly object[] | undefined> {
  if (progress === undefined) return rows
  const { promise, resolve } = Promise.withResolvers<undefined>()
  let endedBefore = progress.endedCount
  const timer = setInterval(() => {
    if (progress.endedCount === endedBefore) resolve(undefined)
    endedBefore = progress.endedCount
  }, BEHIND_ANOTHER_MAX_MS)
  return Promise.race([rows, promise]).finally(() => clearInterval(timer))
}

function isSame(one: CompiledQuery, other: CompiledQuery): boolean {
  return (
    one.sql === other.sql &&
    one.parameters.length === other.parameters.length &&
    one.parameters.every((value, index) => value === other.parameters[index])
  )
}
