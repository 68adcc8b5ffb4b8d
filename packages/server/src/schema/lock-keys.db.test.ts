import { sql, type Transaction } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { lockCatalogue } from '../posture/checks/catalogue-store.ts'
import { lockCheckScope } from '../posture/checks/check-scope-store.ts'
import { lockSigningKeys } from '../signals/signing/signing-key-store.ts'
import { countStreamsLocked } from '../signals/streams/stream-store.ts'
import type { Schema } from './schema.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

/** Runs `second` in a transaction of its own while the locks of `first` are held. */
async function runBeside(
  first: (tx: Transaction<Schema>) => Promise<unknown>,
  second: (tx: Transaction<Schema>) => Promise<unknown>,
): Promise<void> {
  await db.transaction().execute(async (holding) => {
    await first(holding)
    await db.transaction().execute(async (tx) => {
      await sql`set local lock_timeout = '2s'`.execute(tx)
      await second(tx)
    })
  })
}

test('a stream is created while a configuration decides which devices the checks run on', async () => {
  await expect(runBeside(lockCheckScope, countStreamsLocked)).resolves.toBeUndefined()
})

test('a signing key is made while the catalogue is brought up to date', async () => {
  await expect(runBeside(lockCatalogue, lockSigningKeys)).resolves.toBeUndefined()
})

test('two that create streams wait for each other', async () => {
  await expect(runBeside(countStreamsLocked, countStreamsLocked)).rejects.toThrow(/lock timeout/)
})
