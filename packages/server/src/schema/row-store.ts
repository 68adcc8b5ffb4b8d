/*
 * The statements that every table with an id has: a row is inserted, found, locked, changed and deleted by it. A
 * store gives them the name of what its rows are; it writes out those that say more.
 */
import { sql, type Insertable, type Kysely, type Selectable, type Updateable } from 'kysely'
import { notFound } from '../platform/app-error.ts'
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

/** The statements of a table. Ids are decimal numbers within bigint; `noun` is a row in the words of refusals. */
export function rowsOf<Name extends TableWithId>(table: Name, noun: string) {
  type Row = Selectable<Schema[Name]>
  // The query builder knows no columns of a table that is a parameter: one table stands for all.
  const name = table as 'person'
  const select = (db: Kysely<Schema>, id: string) =>
    db.selectFrom(name).selectAll().where('id', '=', id)
  return {
    insert: async (db: Kysely<Schema>, values: Insertable<Schema[Name]>): Promise<Row> => {
      const insert = db.insertInto(name).values(values as never)
      return (await insert.returningAll().executeTakeFirstOrThrow()) as never
    },
    find: async (db: Kysely<Schema>, id: string): Promise<Row | undefined> => {
      return (await select(db, id).executeTakeFirst()) as never
    },
    /** @throws AppError `not_found` */
    get: async (db: Kysely<Schema>, id: string): Promise<Row> => {
      return (await select(db, id).executeTakeFirstOrThrow(() => notFound(noun, id))) as never
    },
    /** The row, locked until the transaction ends. */
    findForUpdate: async (db: Kysely<Schema>, id: string): Promise<Row | undefined> => {
      return (await select(db, id).forUpdate().executeTakeFirst()) as never
    },
    /**
     * The same.
     *
     * @throws AppError `not_found`
     */
    getForUpdate: async (db: Kysely<Schema>, id: string): Promise<Row> => {
      const row = select(db, id).forUpdate()
      return (await row.executeTakeFirstOrThrow(() => notFound(noun, id))) as never
    },
    /** Changes a row that exists. */
    update: async (
      db: Kysely<Schema>,
      id: string,
      values: Updateable<Schema[Name]>,
    ): Promise<Row> => {
      const update = db.updateTable(name).set(values as never)
      return (await update.where('id', '=', id).returningAll().executeTakeFirstOrThrow()) as never
    },
    remove: async (db: Kysely<Schema>, id: string): Promise<void> => {
      await db.deleteFrom(name).where('id', '=', id).execute()
    },
    /** The first of the times that the rows have in a column; undefined when none has one. */
    findEarliest: async (
      db: Kysely<Schema>,
      column: TimeColumn<Row>,
    ): Promise<Date | undefined> => {
      const time = sql.ref<Date>(column)
      const first = db.selectFrom(name).select(time.as('time')).where(time, 'is not', null)
      return (await first.orderBy(time).limit(1).executeTakeFirst())?.time
    },
  }
}
