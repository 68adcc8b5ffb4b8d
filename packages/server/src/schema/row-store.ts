/*
 * The statements that every table with an id has: a row is inserted, found, locked, changed and deleted by it. A
 * store gives them the name of what its rows are; it writes out those that say more.
 */
import type { Insertable, Kysely, Selectable, Updateable } from 'kysely'
import { notFound } from '../platform/app-error.ts'
import type { Schema } from './schema.ts'
import type { Id } from './tables/column-types.ts'

/** A table whose rows have an id that the database gives. */
type TableWithId = {
  [Name in keyof Schema]: Schema[Name] extends { id: Id } ? Name : never
}[keyof Schema]

/** The statements of a table. Ids are decimal numbers within bigint; `noun` is a row in the words of refusals. */
export function rowsOf<Name extends TableWithId>(table: Name, noun: string) {
  type Row = Selectable<Schema[Name]>
  // The query builder knows no columns of a table that is a parameter: one table stands for all.
  const name = table as 'person'
  const select = (db: Kysely<Schema>, id: string) =>
    db.selectFrom(name).selectAll().where('id', '=', id)
  return {
    async insert(db: Kysely<Schema>, values: Insertable<Schema[Name]>): Promise<Row> {
      const insert = db.insertInto(name).values(values as never)
      return (await insert.returningAll().executeTakeFirstOrThrow()) as never
    },
    async find(db: Kysely<Schema>, id: string): Promise<Row | undefined> {
      return (await select(db, id).executeTakeFirst()) as never
    },
    /** The row, locked until the transaction ends. */
    async findForUpdate(db: Kysely<Schema>, id: string): Promise<Row | undefined> {
      return (await select(db, id).forUpdate().executeTakeFirst()) as never
    },
    /**
     * The same.
     *
     * @throws AppError `not_found`
     */
    async getForUpdate(db: Kysely<Schema>, id: string): Promise<Row> {
      const row = select(db, id).forUpdate()
      return (await row.executeTakeFirstOrThrow(() => notFound(noun, id))) as never
    },
    /** Changes a row that exists. */
    async update(db: Kysely<Schema>, id: string, values: Updateable<Schema[Name]>): Promise<Row> {
      const update = db.updateTable(name).set(values as never)
      return (await update.where('id', '=', id).returningAll().executeTakeFirstOrThrow()) as never
    },
    async remove(db: Kysely<Schema>, id: string): Promise<void> {
      await db.deleteFrom(name).where('id', '=', id).execute()
    },
  }
}
