/*
 * A read that goes to the database along with the statement that lets its request through, so that both take one round
 * trip; nobody who does not wait for it is held up by it. Owns what is read, and that only the statement it was read by is answered by it; who may see it is decided
 * before anybody looks.
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
  /** Undefined where it has failed. */
  readonly rows: Promise<readonly object[] | undefined>
}

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
 * The rows of a statement: what it answers where it is on its way, or what it answers now, prepared. One that has failed on its
 * way runs again, so that the fault is that of whoever asked for it.
 */
export async function readRows<Row, Tables>(
  db: Kysely<Tables>,
  statement: CompiledQuery,
  ahead: ReadAhead | undefined,
): Promise<readonly Row[]> {
  const isAhead = ahead !== undefined && isSame(ahead.statement, statement)
  const rowsAhead = isAhead ? await ahead.rows : undefined
  if (rowsAhead !== undefined) return rowsAhead as readonly Row[]
  const { rows } = await toPreparedDb(db).executeQuery<Row>(statement)
  return rows
}

function isSame(one: CompiledQuery, other: CompiledQuery): boolean {
  return (
    one.sql === other.sql &&
    one.parameters.length === other.parameters.length &&
    one.parameters.every((value, index) => value === other.parameters[index])
  )
}
