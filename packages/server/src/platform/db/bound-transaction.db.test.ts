import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { boundWaitsOfRequest } from './bound-transaction.ts'
import { runAs } from './pool-turns.ts'

const database = await createTestDatabase()
afterAll(() => database.close())

/** For how long a transaction of this kind of work waits for a lock where the connection is set so. */
function readLockTimeout(kind: string, setting: string): Promise<unknown> {
  return runAs(kind, () =>
    database.db.transaction().execute(async (tx) => {
      await sql`select set_config('lock_timeout', ${setting}, true)`.execute(tx)
      await boundWaitsOfRequest(tx)
      const { rows } = await sql<{ lock_timeout: string }>`show lock_timeout`.execute(tx)
      return rows[0]?.lock_timeout
    }),
  )
}

describe('a change of a request', () => {
  it.each([
    ['0', '5s'],
    ['1', '1ms'],
    ['2s', '2s'],
    ['5s', '5s'],
    ['5001', '5s'],
    ['20s', '5s'],
    ['1min', '5s'],
  ])('waits for a lock for the shorter of %s and five seconds', async (setting, expected) => {
    expect(await readLockTimeout('requests', setting)).toBe(expected)
  })

  it('is alone in that', async () => {
    expect(await readLockTimeout('devices', '20s')).toBe('20s')
  })
})
