/*
 * The one casing of records: columns are `snake_case` in the database and `camelCase` in the code. A
 * store defines the codec of its table once, with the columns that the code names differently.
 */
import type { Insertable, Selectable, Updateable } from 'kysely'

/** The name of a column in the code: `stream_id` is `streamId`. */
export type CamelCase<Column extends string> = Column extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Column

/** Values by column, under the names that the code has for them. */
export type CamelCased<Values, Renamed = unknown> = {
  readonly [Column in keyof Values as NameOf<Column, Renamed>]: Values[Column]
}

type NameOf<Column, Renamed> = Column extends keyof Renamed
  ? Renamed[Column] & string
  : CamelCase<Column & string>

/** Reads and writes the rows of one table as records. */
export interface RecordCodec<Table, Renamed = unknown> {
  /** A row, with what a join adds to it. */
  readonly fromRow: <Row extends Selectable<Table>>(row: Row) => CamelCased<Row, Renamed>
  readonly toInsert: (record: CamelCased<Insertable<Table>, Renamed>) => Insertable<Table>
  readonly toUpdate: (changes: CamelCased<Updateable<Table>, Renamed>) => Updateable<Table>
}

/**
 * The codec of a table. `renamed` holds the columns whose name in the code is not that of the column in
 * the other casing. Columns are read and written as they are; only their names change.
 */
export function defineRecord<Table, const Renamed extends Readonly<Record<string, string>>>(
  renamed: Renamed,
): RecordCodec<Table, Renamed>
export function defineRecord<Table>(): RecordCodec<Table>
export function defineRecord(renamed: Readonly<Record<string, string>> = {}) {
  const names = new Map(Object.entries(renamed))
  const columns = new Map(Object.entries(renamed).map(([column, name]) => [name, column]))
  const fromRow = rename(names, (column) => column.replaceAll(/_[a-z]/g, toUpper))
  const toRow = rename(columns, (name) => name.replaceAll(/[A-Z]/g, toLower))
  return { fromRow, toInsert: toRow, toUpdate: toRow }
}

/** Renames the members of objects; each name is worked out once. */
function rename(known: Map<string, string>, toName: (name: string) => string) {
  return (values: Readonly<Record<string, unknown>>): never => {
    const renamed: Record<string, unknown> = {}
    for (const [from, value] of Object.entries(values)) {
      let name = known.get(from)
      if (name === undefined) known.set(from, (name = toName(from)))
      renamed[name] = value
    }
    return renamed as never
  }
}

function toUpper(match: string): string {
  return match.slice(1).toUpperCase()
}

function toLower(match: string): string {
  return `_${match.toLowerCase()}`
}
