import { RecordTable } from '../platform/db/record-table.ts'
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
