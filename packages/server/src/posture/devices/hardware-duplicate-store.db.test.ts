import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { insertDevice } from '../../../test/support/factories.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'
import { updateDuplicates } from './hardware-duplicate-store.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

it('twins are locked by ascending id, wherever their rows lie', async () => {
  const serial = 'C02TWIN'
  const [first, second] = [await insertDevice(db, { serial }), await insertDevice(db, { serial })]
  // Its row lies behind the other one now.
  await db.updateTable('device').set({ name: 'moved' }).where('id', '=', first).execute()
  const holder = await db.startTransaction().execute()
  await sql`select from device where id = ${first} for update`.execute(holder)
  const at = new Date('2026-01-02T03:04:05Z')
  const settling = db
    .transaction()
    .execute((tx) => updateDuplicates(tx, [{ serial, hardwareUuid: null }], at))
  await waitForLock(db)
  const free = await sql<{ id: string }>`
    select id from device where id in (${first}, ${second}) order by id for update skip locked
  `.execute(db)
  expect(free.rows).toEqual([{ id: second }])
  await holder.commit().execute()
  expect((await settling).map(({ id }) => id).sort()).toEqual([first, second].sort())
})
