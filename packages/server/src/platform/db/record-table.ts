/*
 * The rows of a table as records of the code. Columns are `snake_case` in the database and `camelCase` in the
 * code; a store defines its table once, with the columns that the code names differently. Owns the names, and
 * what every store does with single rows; a statement that does more stands in its store.
 */
import {
  sql,
  type Insertable,
  type Kysely,
  type Selectable,
  type SqlBool,
  type Updateable,
} from 'kysely'

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

type Values = Readonly<Record<string, unknown>>

export interface FindOptions {
  /** Locks what is found until the transaction ends; false when left out. */
  readonly isLocked?: boolean
}

/** A table of a database with `Schema`. Values are read and written as they are; only their names change. */
export class RecordTable<
  Schema,
  Table,
  Renamed = unknown,
  Stored = CamelCased<Selectable<Table>, Renamed>,
> {
  readonly #name: string
  readonly #toRecord: (row: Values) => unknown
  readonly #toRow: (record: Values) => unknown

  /** `renamed` holds the columns whose name in the code is not that of the column in the other casing. */
  constructor(name: string, renamed: Readonly<Record<string, string>>) {
    const names = new Map(Object.entries(renamed))
    const columns = new Map(Object.entries(renamed).map(([column, own]) => [own, column]))
    this.#name = name
    this.#toRecord = rename(names, toOwnName)
    this.#toRow = rename(columns, toColumnName)
  }

  /** The record of a row, with what a join adds to it. */
  readonly fromRow = <Row extends Selectable<Table>>(row: Row): CamelCased<Row, Renamed> =>
    this.#toRecord(row) as CamelCased<Row, Renamed>

  readonly toInsert = (record: CamelCased<Insertable<Table>, Renamed>): Insertable<Table> =>
    this.#toRow(record) as Insertable<Table>

  readonly toUpdate = (changes: CamelCased<Updateable<Table>, Renamed>): Updateable<Table> =>
    this.#toRow(changes) as Updateable<Table>

  /** The one record with these values; undefined when there is none. */
  async find(
    db: Kysely<Schema>,
    values: Partial<Stored>,
    { isLocked = false }: FindOptions = {},
  ): Promise<Stored | undefined> {
    const row = await this.#select(db, values)
      .$if(isLocked, (query) => query.forUpdate())
      .executeTakeFirst()
    return row && (this.#toRecord(row) as Stored)
  }

  /** The records with these values by ascending id, which the table must have. */
  async list(db: Kysely<Schema>, values: Partial<Stored>): Promise<Stored[]> {
    const rows = await this.#select(db, values).orderBy('id').execute()
    return rows.map(this.#toRecord) as Stored[]
  }

  /** Adds a record and answers it as it is stored. */
  async insert(
    db: Kysely<Schema>,
    record: CamelCased<Insertable<Table>, Renamed>,
  ): Promise<Stored> {
    const row = await ofAnyTable(db)
      .insertInto(this.#name)
      .values(this.#toRow(record) as Values)
      .returningAll()
      .executeTakeFirstOrThrow()
    return this.#toRecord(row) as Stored
  }

  /** Changes the one record with these values, which must exist, and answers it as it is then. */
  async update(
    db: Kysely<Schema>,
    values: Partial<Stored>,
    changes: CamelCased<Updateable<Table>, Renamed>,
  ): Promise<Stored> {
    const row = await this.#set(db, values, changes).returningAll().executeTakeFirstOrThrow()
    return this.#toRecord(row) as Stored
  }

  /** Changes every record with these values; there may be none. */
  async updateAll(
    db: Kysely<Schema>,
    values: Partial<Stored>,
    changes: CamelCased<Updateable<Table>, Renamed>,
  ): Promise<void> {
    await this.#set(db, values, changes).execute()
  }

  /** Deletes the records with these values. */
  async delete(db: Kysely<Schema>, values: Partial<Stored>): Promise<void> {
    await ofAnyTable(db).deleteFrom(this.#name).where(this.#isWith(values)).execute()
  }

  #select(db: Kysely<Schema>, values: Partial<Stored>) {
    return ofAnyTable(db).selectFrom(this.#name).selectAll().where(this.#isWith(values))
  }

  #set(
    db: Kysely<Schema>,
    values: Partial<Stored>,
    changes: CamelCased<Updateable<Table>, Renamed>,
  ) {
    return ofAnyTable(db)
      .updateTable(this.#name)
      .set(this.#toRow(changes) as Values)
      .where(this.#isWith(values))
  }

  #isWith(values: Partial<Stored>) {
    const conditions = Object.entries(this.#toRow(values) as Values).map(([column, value]) =>
      value === null ? sql`${sql.ref(column)} is null` : sql`${sql.ref(column)} = ${value}`,
    )
    return sql<SqlBool>`${sql.join(conditions, sql` and `)}`
  }
}

const renameColumns = rename(new Map(), toOwnName)

/** The record of a row of any query: its values as they are, under the names that the code has for them. */
export function toRecord<Row extends object>(row: Row): CamelCased<Row> {
  return renameColumns(row as Values) as CamelCased<Row>
}

const renameMembers = rename(new Map(), toColumnName)

/** The values of a record under the names of columns, which are those of the wire and of audit entries too. */
export function toRow(record: object): Values {
  return renameMembers(record as Values)
}

/** The first record of a query; undefined when there is none. */
export async function findRecord<Row extends object>(query: {
  executeTakeFirst(): Promise<Row | undefined>
}): Promise<CamelCased<Row> | undefined> {
  const row = await query.executeTakeFirst()
  return row && toRecord(row)
}

/** The first record of a query that has one, as an insert and an update by id do; throws otherwise. */
export async function takeRecord<Row extends object>(query: {
  executeTakeFirstOrThrow(): Promise<Row>
}): Promise<CamelCased<Row>> {
  return toRecord(await query.executeTakeFirstOrThrow())
}

/** The records of a query. */
export async function listRecords<Row extends object>(query: {
  execute(): Promise<Row[]>
}): Promise<CamelCased<Row>[]> {
  const rows = await query.execute()
  return rows.map(toRecord)
}

/** The name that the code has for a column: `created_at` is `createdAt`. */
export function toOwnName<Column extends string>(column: Column): CamelCase<Column> {
  const own = column.replaceAll(/_[a-z]/g, (match) => match.slice(1).toUpperCase())
  return own as CamelCase<Column>
}

/** For statements on a table that is known when they are run. */
function ofAnyTable<Schema>(db: Kysely<Schema>): Kysely<Record<string, Record<string, unknown>>> {
  return db as unknown as Kysely<Record<string, Record<string, unknown>>>
}

/** Renames the members of objects; each name is worked out once. */
function rename(known: Map<string, string>, toName: (name: string) => string) {
  return (values: Values): Values => {
    const renamed: Record<string, unknown> = {}
    for (const from of Object.keys(values)) {
      let name = known.get(from)
      if (name === undefined) known.set(from, (name = toName(from)))
      renamed[name] = values[from]
    }
    return renamed
  }
}

function toColumnName(own: string): string {
  return own.replaceAll(/[A-Z]/g, (match) => `_${match.toLowerCase()}`)
}
