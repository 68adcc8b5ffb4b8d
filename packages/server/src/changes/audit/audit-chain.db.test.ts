import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { SYSTEM_ACTOR } from './audit-entry.ts'
import { createChangeRunner, type RunChange } from '../change.ts'
import { verifyAuditChain } from './verify-audit-chain.ts'

describe('the audit chain', () => {
  let database: TestDatabase
  let runChange: RunChange

  beforeEach(async () => {
    database = await createTestDatabase()
    runChange = createChangeRunner(database.db, new ManualClock(), [])
  })

  afterEach(() => database.close())

  const record = (description: string, after?: Record<string, string>) =>
    runChange({ actor: SYSTEM_ACTOR, requestId: 'req_1', ipAddress: '127.0.0.1' }, async (change) =>
      change.recordAudit({
        action: 'test.recorded',
        target: { type: 'test', id: '1' },
        description,
        ...(after === undefined ? {} : { after }),
      }),
    )

  /** The rule against changes is lifted, as a thief with the database could do. */
  const tamper = async (statement: string) => {
    await sql`alter table audit_entry disable trigger audit_entry_append_only`.execute(database.db)
    await sql.raw(statement).execute(database.db)
  }

  it('is whole after entries of every kind, odd text included', async () => {
    await record('plain')
    await record('with values', { b: '2', a: '1', 10: 'ten', 9: 'nine' })
    await record('odd \u0000 text \ud800 "quoted" \\ ünïcode 💥')
    expect(await verifyAuditChain(database.db)).toMatchObject({ isWhole: true, entryCount: 3 })
  })

  it('is gapless and whole when changes run at the same time', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, index) => record(`entry ${index}`)))
    expect(await verifyAuditChain(database.db)).toMatchObject({ isWhole: true, entryCount: 40 })
  })

  it('has no entry of a change that failed', async () => {
    const failing = runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      change.recordAudit({ action: 'test.failed', target: null, description: 'never happened' })
      await Promise.reject(new Error('the change fails'))
    })
    await expect(failing).rejects.toThrow('the change fails')
    expect(await verifyAuditChain(database.db)).toMatchObject({ isWhole: true, entryCount: 0 })
  })

  it.each([
    ['a changed word', `update audit_entry set description = 'other' where sequence = 2`, '2'],
    ['a changed value', `update audit_entry set after = '{"a": "2"}' where sequence = 2`, '2'],
    ['a changed time', `update audit_entry set recorded_at = now() where sequence = 3`, '3'],
    ['a removed entry', `delete from audit_entry where sequence = 2`, '3'],
    ['a removed beginning', `delete from audit_entry where sequence = 1`, '2'],
    ['a changed hash', `update audit_entry set hash = sha256('x') where sequence = 1`, '1'],
  ])('names the first entry that does not fit after %s', async (_name, statement, sequence) => {
    for (const word of ['one', 'two', 'three', 'four']) await record(word, { a: '1' })
    await tamper(statement)
    expect(await verifyAuditChain(database.db)).toMatchObject({ isWhole: false, sequence })
  })

  it('cannot be changed by a statement of the service', async () => {
    await record('one')
    const change = database.db.updateTable('audit_entry').set({ description: 'other' }).execute()
    await expect(change).rejects.toThrow(/append-only/)
    await expect(database.db.deleteFrom('audit_entry').execute()).rejects.toThrow(/append-only/)
  })
})
