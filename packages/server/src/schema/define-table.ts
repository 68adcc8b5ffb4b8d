import type { Insertable, Selectable, Updateable } from 'kysely'
import { RecordTable, type CamelCased } from '../platform/db/record-table.ts'
import type { Schema } from './schema.ts'

/**
 * A table of this service, for the store that owns it. `renamed` holds the columns whose name in the code is
 * not that of the column in the other casing.
 */
export function defineTable<
  Name extends keyof Schema,
  const Renamed extends Readonly<Record<string, string>> = Readonly<Record<never, string>>,
>(name: Name, renamed?: Renamed): RecordTable<Schema, Schema[Name], Renamed> {
  return new RecordTable(name, renamed ?? {})
}

/** What a table of this service holds. */
export type RecordOf<Table extends { find(...args: never[]): unknown }> = NonNullable<
  Awaited<ReturnType<Table['find']>>
>

/** A record as a table holds it. */
export type StoredRecord<Name extends keyof Schema> = CamelCased<Selectable<Schema[Name]>>

/** A record to put into a table. */
export type NewRecord<Name extends keyof Schema> = CamelCased<Insertable<Schema[Name]>>

/** What is to change of a record of a table. */
export type RecordChanges<Name extends keyof Schema> = CamelCased<Updateable<Schema[Name]>>
