/*
 * A read that goes to the database along with the statement that lets its request through, so that both take one round
 * trip. Owns what is read, and that only the statement it was read by is answered by it; who may see it is decided
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

/** What a statement has answered already. */
export interface ReadAhead {
  readonly statement: CompiledQuery
  readonly rows: readonly object[]
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

/** The rows of a statement: what it has answered already, or what it answers now, prepared. */
export async function readRows<Row, Tables>(
  db: Kysely<Tables>,
  statement: CompiledQuery,
  ahead: ReadAhead | undefined,
): Promise<readonly Row[]> {
  if (ahead !== undefined && isSame(ahead.statement, statement)) return ahead.rows as readonly Row[]
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
