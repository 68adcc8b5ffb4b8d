/*
 * The statements that every table with an id has: a record is inserted, found, locked, changed and deleted by it. A
 * store gives them the name of what its records are; it writes out those that say more.
 */
import { sql, type Insertable, type Kysely, type Selectable, type Updateable } from 'kysely'
import { notFound } from '../platform/app-error.ts'
import { RecordTable } from '../platform/db/record-table.ts'
import type { NewRecord, RecordChanges, StoredRecord } from './define-table.ts'
import type { Schema } from './schema.ts'
import type { Id } from './tables/column-types.ts'

/** A table whose rows have an id that the database gives. */
type TableWithId = {
  [Name in keyof Schema]: Schema[Name] extends { id: Id } ? Name : never
}[keyof Schema]

/** A column of a table that holds a time, or none. */
type TimeColumn<Row> = {
  [Column in keyof Row]: Row[Column] extends Date | null ? Column & string : never
}[keyof Row]

/** The statements of a table. Ids are decimal numbers within bigint. */
interface RowStore<Name extends TableWithId> {
  toInsert(this: void, values: NewRecord<Name>): Insertable<Schema[Name]>
  toUpdate(this: void, values: RecordChanges<Name>): Updateable<Schema[Name]>
  insert(this: void, db: Db, values: NewRecord<Name>): Promise<StoredRecord<Name>>
  find(this: void, db: Db, id: string): Promise<StoredRecord<Name> | undefined>
  /** @throws AppError `not_found` */
  get(this: void, db: Db, id: string): Promise<StoredRecord<Name>>
  /** The record, locked until the transaction ends. */
  findForUpdate(this: void, db: Db, id: string): Promise<StoredRecord<Name> | undefined>
  /**
   * The same.
   *
   * @throws AppError `not_found`
   */
  getForUpdate(this: void, db: Db, id: string): Promise<StoredRecord<Name>>
  /** Changes a record that exists. */
  update(this: void, db: Db, id: string, values: RecordChanges<Name>): Promise<StoredRecord<Name>>
  remove(this: void, db: Db, id: string): Promise<void>
  /** The first of the times that the rows have in a column; undefined when none has one. */
  findEarliest(
    this: void,
    db: Db,
    column: TimeColumn<Selectable<Schema[Name]>>,
  ): Promise<Date | undefined>
}

type Db = Kysely<Schema>

/** The statements of a table; `noun` is a record in the words of refusals. */
export function rowsOf<Name extends TableWithId>(name: Name, noun: string): RowStore<Name> {
  const table = new RecordTable<Schema, Schema[Name]>(name, {})
  const find = (db: Db, id: string, isLocked: boolean) => table.find(db, withId(id), { isLocked })
  const get = async (db: Db, id: string, isLocked: boolean) => {
    const record = await find(db, id, isLocked)
    if (record === undefined) throw notFound(noun, id)
    return record
  }
  return {
    toInsert: table.toInsert,
    toUpdate: table.toUpdate,
    insert: (db, values) => table.insert(db, values),
    find: (db, id) => find(db, id, false),
    get: (db, id) => get(db, id, false),
    findForUpdate: (db, id) => find(db, id, true),
    getForUpdate: (db, id) => get(db, id, true),
    update: (db, id, values) => table.update(db, withId(id), values),
    remove: (db, id) => table.delete(db, withId(id)),
    findEarliest: async (db, column) => {
      const time = sql.ref<Date>(column)
      // The query builder knows no columns of a table that is a parameter: one table stands for all.
      const rows = db.selectFrom(name as 'person')
      const first = rows.select(time.as('time')).where(time, 'is not', null)
      return (await first.orderBy(time).limit(1).executeTakeFirst())?.time
    },
  }
}

/** The condition on the id, which the compiler does not know of a table that is a parameter. */
function withId(id: string): object {
  return { id }
}
