import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestAuditLog, type TestAuditLog } from '../../../test/support/audit-log.ts'
import { beginPartition, describePartitions } from '../../../test/support/partitioned-table.ts'
import { runRetention } from '../../../test/support/run-retention.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { createChangeRunner } from '../change.ts'
import { auditRetention } from './audit-retention.ts'
import { getAuditChain } from './chain/chain-store.ts'
import { collectCheckpoints } from './checkpoints/collect-checkpoints.ts'
import { cutAuditChain } from './cut-audit-chain.ts'
import { verifyAuditChain } from './verify-audit-chain.ts'

const OLD = '2020-01-01T00:00:00Z'
const BEFORE = new Date('2020-06-01T00:00:00Z')

let log: TestAuditLog

beforeEach(async () => {
  log = await createTestAuditLog()
  log.clock.set(OLD)
  await log.record(600)
})

afterEach(() => log.close())

async function verify() {
  const { checkpoints } = await collectCheckpoints(log.db, {
    folder: log.folder,
    paths: [],
    keys: [],
  })
  return verifyAuditChain(log.db, { checkpoints })
}

const cut = (through: number) =>
  log.database.pool.query('select cut_audit_chain($1) as deleted', [through])

describe('cutting the audit chain', () => {
  it('deletes in steps of 256 entries and leaves a chain that proves itself', async () => {
    await log.checkpoint()
    expect(await cutAuditChain(log, BEFORE)).toEqual({ entryCount: 512, position: 512 })
    await log.record(400)
    await log.checkpoint()
    // The entries of the key and of the cut are among them.
    expect(await verify()).toMatchObject({
      isWhole: true,
      entryCount: 600 - 512 + 1 + 1 + 400,
      checkpointCount: 2,
      cut: { entryCount: 512 },
    })
    expect(await cutAuditChain(log, BEFORE)).toMatchObject({ entryCount: 256, position: 768 })
    expect(await verify()).toMatchObject({ isWhole: true, checkpointCount: 1 })
  })

  it('leaves an empty partition, which is dropped then and not before', async () => {
    await beginPartition(log.db, { table: 'audit_entry', first: 20_000_000, size: 1_000 })
    await log.record(600)
    await log.checkpoint()
    const drop = sql`select drop_partition('audit_entry', 'audit_entry')`.execute(log.db)
    await expect(drop).rejects.toThrow('append-only')
    await cutAuditChain(log, BEFORE)
    expect(await auditRetention(log, 365).endPartitions?.(log.db, BEFORE)).toBe(0)
    expect(await describePartitions(log.db, 'audit_entry')).toEqual({
      '20000000 to 20001000': 1 + 1 + 600 + 600 - 1_024,
      '20001000 to 20002000': 0,
      others: 0,
    })
    expect(await verify()).toMatchObject({ isWhole: true, cut: { entryCount: 1_024 } })
  })

  it('is the work of retention, batch by batch, and only of what is old enough', async () => {
    log.clock.set('2020-07-01T00:00:00Z')
    await log.record(4_000)
    await log.checkpoint()
    const now = new Date('2021-06-01T00:00:00Z')
    const policy = auditRetention(log, 365)
    expect(await runRetention(log.db, policy, now)).toMatchObject({ count: 512 })
    const later = new Date('2021-08-01T00:00:00Z')
    const first = await policy.runBatch(log.db, {
      before: new Date(later.getTime() - 365 * DAY_MS),
      after: null,
      limit: 1,
    })
    expect(first).toEqual({ count: 3_840, place: null, isOver: true })
    expect(await verify()).toMatchObject({ isWhole: true })
    expect(auditRetention(log, 0).keepsMs).toBeNull()
  })

  it('stops before the first entry that is to be kept', async () => {
    log.clock.set('2020-07-01T00:00:00Z')
    await log.record(600)
    await log.checkpoint()
    expect(await cutAuditChain(log, BEFORE)).toMatchObject({ position: 512 })
  })

  it('cuts nothing that no checkpoint covers', async () => {
    await log.chainer.flush()
    expect(await cutAuditChain(log, BEFORE)).toEqual({ entryCount: 0, position: 0 })
    await expect(cut(256)).rejects.toThrow(/no checkpoint covers/)
  })

  it('is refused by the database for entries of the last 30 days', async () => {
    log.clock.set(new Date().toISOString())
    await log.record(400)
    await log.checkpoint()
    await expect(cut(768)).rejects.toThrow(/younger than 30 days/)
    await cut(512)
  })

  it.each([0, 100, 256, 1024])('is refused by the database at %i', async (through) => {
    await log.checkpoint()
    await cut(256)
    await expect(cut(through)).rejects.toThrow(/cannot be cut at/)
  })

  it('leaves what the rest needs out of the reach of a deletion', async () => {
    await log.checkpoint()
    await cut(256)
    for (const table of ['audit_entry', 'audit_link', 'audit_subtree', 'audit_checkpoint']) {
      await expect(log.database.pool.query(`delete from ${table}`), table).rejects.toThrow(
        /append-only/,
      )
    }
  })

  it('does not hide what was done to the rest', async () => {
    await log.checkpoint()
    await cutAuditChain(log, BEFORE)
    await log.attack(`update audit_entry set description = 'harmless' where sequence = 550`)
    expect(await verify()).toMatchObject({ isWhole: false, sequence: '550' })
  })

  it('says so in the log in the transaction that deletes, or deletes nothing', async () => {
    await log.checkpoint()
    const failing = createChangeRunner(log.db, log.clock, [
      () => Promise.reject(new Error('the change fails')),
    ])
    await expect(cutAuditChain({ ...log, runChange: failing }, BEFORE)).rejects.toThrow(
      'the change fails',
    )
    expect((await getAuditChain(log.db)).cutPosition).toBe(0)
  })

  it('is found when no entry tells of it', async () => {
    await log.checkpoint()
    await cut(256)
    expect(await verify()).toMatchObject({
      isWhole: false,
      problem: expect.stringContaining('no entry tells of that cut') as unknown,
    })
  })

  it('does not let its beginning be another one', async () => {
    await log.checkpoint()
    await cutAuditChain(log, BEFORE)
    await log.attack(`update audit_chain set cut_head = sha256('x')`)
    expect(await verify()).toMatchObject({ isWhole: false, sequence: '513' })
  })
})
