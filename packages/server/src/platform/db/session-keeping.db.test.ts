import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { startTransactionPooler } from '../../../test/support/transaction-pooler.ts'
import { toUrl } from '../../../test/support/to-url.ts'
import { assertSessionKept } from '../../app/session-connection.ts'
import type { Schema } from '../../schema/schema.ts'
import { DatabaseNetwork } from './database-network.ts'
import { openDatabase } from './database.ts'
import { keepsSession } from './session-keeping.ts'

const database = await createTestDatabase()
const pooler = await startTransactionPooler(database.connection)
afterAll(async () => {
  await pooler.close()
  await database.close()
})

test('a direct connection keeps its session, one behind a pooler in transaction mode does not', async () => {
  const network = new DatabaseNetwork()
  expect(await keepsSession(database.connection, network)).toBe(true)
  expect(await keepsSession(pooler, network)).toBe(false)
})

test('the service names the setting that leads past the pooler', async () => {
  const network = new DatabaseNetwork()
  const direct = { url: toUrl(database.connection) }
  const pooled = { databaseUrl: pooler.url, databaseSessionUrl: undefined }
  await expect(assertSessionKept(pooled, pooler, network)).rejects.toThrow(
    /DATABASE_URL leads through.*give HELIOGRAPH_DATABASE_SESSION_URL/,
  )
  const both = { databaseUrl: pooler.url, databaseSessionUrl: pooler.url }
  await expect(assertSessionKept(both, pooler, network)).rejects.toThrow(
    /SESSION_URL leads through.*to the database itself/,
  )
  await assertSessionKept(
    { databaseUrl: pooler.url, databaseSessionUrl: direct.url },
    direct,
    network,
  )
})

test('statements that the pooler sends to connections that do not know them run all the same', async () => {
  const opened = openDatabase<Schema>(pooler, {
    network: new DatabaseNetwork(),
    poolMax: 3,
    logError: () => undefined,
  })
  try {
    for (let round = 0; round < 6; round += 1) {
      const answers = await Promise.all(
        [1, 2, 3].map(async (number) => {
          const { rows } = await sql<{ number: number }>`
            select ${number}::int as number, pg_sleep(0.01)`.execute(opened.preparedDb)
          return rows[0]?.number
        }),
      )
      expect(answers).toEqual([1, 2, 3])
    }
  } finally {
    await opened.close()
  }
})
