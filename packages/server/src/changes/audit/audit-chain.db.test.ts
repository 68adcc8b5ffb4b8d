import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { SYSTEM_ACTOR } from './audit-entry.ts'
import { createChangeRunner, type RunChange } from '../change.ts'
import { createAuditChainer, type AuditChainer } from './chain/audit-chainer.ts'
import { getAuditChain } from './chain/chain-store.ts'
import { EntryLinker } from './chain/link-audit-entries.ts'
import { verifyAuditChain } from './verify-audit-chain.ts'

describe('the audit chain', () => {
  let database: TestDatabase
  let runChange: RunChange
  let chainer: AuditChainer

  beforeEach(async () => {
    database = await createTestDatabase()
    chainer = newChainer()
    runChange = createChangeRunner(database.db, new ManualClock(), [
      async ({ afterCommit }) => afterCommit(() => chainer.wake()),
    ])
  })

  afterEach(async () => {
    await chainer.stop()
    await database.close()
  })

  const newChainer = () =>
    createAuditChainer(database.db, {
      logError: (error) => {
        throw error
      },
    })

  const record = (description: string, after?: Record<string, string>) =>
    runChange({ actor: SYSTEM_ACTOR, requestId: 'req_1', ipAddress: '127.0.0.1' }, async (change) =>
      change.recordAudit({
        action: 'test.recorded',
        target: { type: 'test', id: '1' },
        description,
        ...(after === undefined ? {} : { after }),
      }),
    )

  const verify = async () => {
    await chainer.flush()
    return verifyAuditChain(database.db)
  }

  /** The rule against changes is lifted, as a thief with the database could do. */
  const tamper = async (statement: string) => {
    await chainer.flush()
    await sql`alter table audit_entry disable trigger user`.execute(database.db)
    await sql`alter table audit_link disable trigger user`.execute(database.db)
    await sql.raw(statement).execute(database.db)
  }

  it('is whole after entries of every kind, odd text included', async () => {
    await record('plain')
    await record('with values', { b: '2', a: '1', 10: 'ten', 9: 'nine' })
    await record('odd \u0000 text \ud800 "quoted" \\ ünïcode 💥')
    expect(await verify()).toMatchObject({ isWhole: true, entryCount: 3 })
  })

  it('is gapless and whole when changes run at the same time and several processes chain', async () => {
    const others = [newChainer(), newChainer()]
    for (const each of [chainer, ...others]) each.start()
    await Promise.all(Array.from({ length: 60 }, (_, index) => record(`entry ${index}`)))
    await Promise.all([chainer, ...others].map((each) => each.flush()))
    await Promise.all(others.map((each) => each.stop()))
    expect(await verify()).toMatchObject({
      isWhole: true,
      entryCount: 60,
      unchained: { entryCount: 0 },
    })
  })

  it('takes in an entry soon after its commit', async () => {
    chainer.start()
    await record('soon')
    await vi.waitFor(async () => {
      expect(await verifyAuditChain(database.db)).toMatchObject({ entryCount: 1 })
    })
  })

  it('takes in what a process left that died between its commit and the chaining', async () => {
    await sql`select append_audit_entries(${JSON.stringify([ENTRY])}::jsonb)`.execute(database.db)
    chainer.start()
    await vi.waitFor(
      async () => {
        expect(await verifyAuditChain(database.db)).toMatchObject({ entryCount: 1 })
      },
      { timeout: 5_000 },
    )
  })

  it('tells what waits for its place', async () => {
    await record('waiting')
    expect(await verifyAuditChain(database.db)).toMatchObject({
      isWhole: true,
      entryCount: 0,
      unchained: { entryCount: 1, oldestRecordedAt: expect.any(Date) as unknown },
    })
  })

  it('loses no entry of a change that commits long after it drew its number', async () => {
    const linker = new EntryLinker(database.db)
    const slow = await database.pool.connect()
    try {
      await slow.query('begin')
      await slow.query('select append_audit_entries($1::jsonb)', [JSON.stringify([ENTRY])])
      for (const word of ['one', 'two', 'three']) {
        await record(word)
        await linker.runRound()
      }
      await slow.query('commit')
    } finally {
      slow.release()
    }
    await linker.runRound()
    expect(await verifyAuditChain(database.db)).toMatchObject({
      isWhole: true,
      entryCount: 4,
      unchained: { entryCount: 0 },
    })
    // Later rounds do not look through everything again, once the transactions of others have ended.
    await vi.waitFor(
      async () => {
        await record('more')
        await linker.runRound()
        const { rows } = await sql<{ settled: string }>`
          select settled_sequence as settled from audit_chain`.execute(database.db)
        expect(Number(rows[0]?.settled)).toBeGreaterThan(4)
      },
      { timeout: 20_000 },
    )
  })

  it('looks through a backlog once, and not again for every batch of it', async () => {
    const linker = new EntryLinker(database.db)
    const appendBatch = () =>
      sql`select append_audit_entries(${JSON.stringify(Array(2_000).fill(ENTRY))}::jsonb)`.execute(
        database.db,
      )
    await appendBatch()
    const readSettled = async () => {
      await appendBatch()
      expect(await linker.runRound()).toBe('more')
      return Number((await getAuditChain(database.db)).settledSequence)
    }
    await expect.poll(readSettled).toBeGreaterThan(0)
    await chainer.flush()
    expect(await verifyAuditChain(database.db)).toMatchObject({ isWhole: true })
  })

  it('leaves a backlog to others where there is no time for it', async () => {
    await record('waiting')
    await chainer.flush(0)
    expect(await verifyAuditChain(database.db)).toMatchObject({ unchained: { entryCount: 1 } })
  })

  it('lets changes commit while another one with entries is under way', async () => {
    const slow = await database.pool.connect()
    try {
      await slow.query('begin')
      await slow.query('select append_audit_entries($1::jsonb)', [JSON.stringify([ENTRY])])
      // Under a lock that is held until the commit this would wait for the other one.
      await record('quick')
    } finally {
      await slow.query('rollback')
      slow.release()
    }
  })

  it('has no entry of a change that failed', async () => {
    const failing = runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      change.recordAudit({ action: 'test.failed', target: null, description: 'never happened' })
      await Promise.reject(new Error('the change fails'))
    })
    await expect(failing).rejects.toThrow('the change fails')
    await record('happened')
    expect(await verify()).toMatchObject({ isWhole: true, entryCount: 1 })
  })

  it('goes on for the program of the version before, which runs beside for a while', async () => {
    await record('new')
    await database.pool.query('insert into audit_pending (entries) values ($1::jsonb)', [
      JSON.stringify([{ ...ENTRY, canonical: 'text that was hashed' }]),
    ])
    expect(await verify()).toMatchObject({ isWhole: true, entryCount: 2 })
  })

  it.each([
    ['a changed word', `update audit_entry set description = 'other' where sequence = 2`, '2'],
    ['a changed value', `update audit_entry set after = '{"a": "2"}' where sequence = 2`, '2'],
    ['a changed time', `update audit_entry set recorded_at = now() where sequence = 3`, '3'],
    ['a changed number', `update audit_entry set sequence = 9 where sequence = 4`, '4'],
    [
      'a number changed everywhere',
      `update audit_entry set sequence = 9 where sequence = 4;
       update audit_link set entry_sequence = 9 where entry_sequence = 4`,
      '9',
    ],
    ['a removed entry', `delete from audit_entry where sequence = 2`, '2'],
    [
      'an entry removed with its place',
      `delete from audit_entry where sequence = 2; delete from audit_link where position = 2`,
      '3',
    ],
    [
      'a removed beginning',
      `delete from audit_entry where sequence = 1; delete from audit_link where position = 1`,
      '2',
    ],
    ['a changed hash', `update audit_link set hash = sha256('x') where position = 1`, '1'],
  ])('names the first entry that does not fit after %s', async (_name, statement, sequence) => {
    for (const word of ['one', 'two', 'three', 'four']) await record(word, { a: '1' })
    await tamper(statement)
    expect(await verifyAuditChain(database.db)).toMatchObject({ isWhole: false, sequence })
  })

  it('is broken where an entry was slipped in beside it', async () => {
    for (const word of ['one', 'two', 'three']) await record(word)
    // A number that no entry has, as failed changes leave them.
    await tamper(`update audit_chain set settled_sequence = 9;
      select setval('audit_entry_number', 9);
      insert into audit_entry (sequence, recorded_at, actor_type, actor_name, action, description, txn)
        values (7, now(), 'User', 'Ada', 'api_key.created', 'never happened', 'x')`)
    expect(await verifyAuditChain(database.db)).toMatchObject({
      isWhole: false,
      sequence: '7',
      problem: expect.stringContaining('has no place in the chain') as unknown,
    })
  })

  it('is broken where its last places are gone', async () => {
    for (const word of ['one', 'two', 'three', 'four']) await record(word)
    await tamper(
      `delete from audit_entry where sequence > 2; delete from audit_link where position > 2`,
    )
    expect(await verifyAuditChain(database.db)).toMatchObject({
      isWhole: false,
      problem: expect.stringContaining('2 entries and had 4') as unknown,
    })
  })

  it('cannot be changed by a statement of the service', async () => {
    await record('one')
    await chainer.flush()
    for (const table of ['audit_entry', 'audit_link']) {
      for (const statement of [`delete from ${table}`, `truncate ${table}`]) {
        await expect(database.pool.query(statement), statement).rejects.toThrow(/append-only/)
      }
    }
    await expect(
      database.pool.query(`update audit_entry set description = 'other'`),
    ).rejects.toThrow(/append-only/)
    await expect(database.pool.query('delete from audit_chain')).rejects.toThrow(/append-only/)
  })
})

const ENTRY = {
  recorded_at: '2026-01-02T03:04:05.678Z',
  actor_type: 'System',
  actor_id: null,
  actor_name: 'Heliograph',
  actor_email: null,
  action: 'test.recorded',
  target_type: null,
  target_id: null,
  description: 'slow',
  before: null,
  after: null,
  txn: '01JH0000000000000000000000',
  request_id: null,
  ip_address: null,
}
