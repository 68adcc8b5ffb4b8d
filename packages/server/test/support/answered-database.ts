import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
} from 'kysely'
import type { Schema } from '../../src/schema/schema.ts'

/** A database whose statements find no rows and fail as `answer` does; for tests of what follows from that. */
export function createAnsweredDatabase(
  answer: (statement: CompiledQuery) => void | Promise<void>,
): Kysely<Schema> {
  const driver = new DummyDriver()
  driver.acquireConnection = () =>
    Promise.resolve({
      async executeQuery(statement) {
        await answer(statement)
        return { rows: [] }
      },
      streamQuery: () => {
        throw new Error('nothing is streamed')
      },
    })
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (of) => new PostgresIntrospector(of),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
}
