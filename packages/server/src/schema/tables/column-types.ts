import type { ColumnType, Generated } from 'kysely'

/** A `bigint` key that the database numbers: read as a decimal string. */
export type Id = Generated<string>

/** A `bigint` column that counts: read as a decimal string, written as either. */
export type BigCount = ColumnType<string, string | number, string | number>

/** {@link BigCount} with a default: an insert may leave it out. */
export type DefaultBigCount = ColumnType<string, string | number | undefined, string | number>

/** A `jsonb` column: read as a value, written as JSON text. */
export type Json<T> = ColumnType<T, string, string>

/** A `jsonb` column with a default: {@link Json} that an insert may leave out. */
export type DefaultJson<T> = ColumnType<T, string | undefined, string>

/** One row as osquery reports it: column name to text. */
export type OsqueryRow = Record<string, string>
