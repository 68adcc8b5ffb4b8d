/*
 * An audit log of its own for a test: changes that leave entries, a chainer that is run by hand, a key that
 * signs checkpoints, and the folder that they leave the database into.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import {
  createAuditChainer,
  type AuditChainer,
} from '../../src/changes/audit/chain/audit-chainer.ts'
import { exportCheckpoints } from '../../src/changes/audit/checkpoints/export-checkpoints.ts'
import {
  signCheckpoint,
  type SignDependencies,
} from '../../src/changes/audit/checkpoints/sign-checkpoint.ts'
import { createChangeRunner } from '../../src/changes/change.ts'
import { parseMasterKeys } from '../../src/platform/secrets/master-key.ts'
import { createSealer } from '../../src/platform/secrets/sealed-box.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { ManualClock } from './manual-clock.ts'

export interface TestAuditLog extends SignDependencies {
  readonly database: TestDatabase
  readonly clock: ManualClock
  readonly chainer: AuditChainer
  /** Leaves so many entries in one change. */
  record(count: number): Promise<void>
  /** Chains what there is, signs a checkpoint and writes it to the folder. */
  checkpoint(): Promise<void>
  /** As a thief with the rights of the owner: past every rule of the database. */
  attack(...statements: string[]): Promise<void>
  /** As a thief who makes the chain and its tree anew, from the entries that are there. */
  chainAnew(): Promise<void>
  close(): Promise<void>
}

const AUDIT_TABLES = [
  'audit_entry',
  'audit_link',
  'audit_subtree',
  'audit_chain',
  'audit_checkpoint',
]

/** Sets the chain back to where it has no entries. */
export const FORGET_CHAIN: readonly string[] = [
  'delete from audit_link',
  'delete from audit_subtree',
  `update audit_chain set size = 0, settled_sequence = 0, frontier = '',
     head = decode(repeat('00', 32), 'hex')`,
]

export async function createTestAuditLog(): Promise<TestAuditLog> {
  const database = await createTestDatabase()
  const { db, pool } = database
  const clock = new ManualClock()
  const runChange = createChangeRunner(db, clock, [])
  const folder = await mkdtemp(join(tmpdir(), 'audit-checkpoints-'))
  const chainer = createAuditChainer(db, { logError: () => undefined })
  const sealer = createSealer(parseMasterKeys(randomBytes(32).toString('base64'), 'test'))
  const dependencies = { db, clock, runChange, folder, sealer, baseUrl: 'https://example.com' }
  let recordedCount = 0
  const attack = async (...statements: string[]) => {
    const { rows } = await pool.query<{ name: string }>(
      `select name from unnest($1::text[]) name
       union all select inhrelid::regclass::text from pg_inherits where inhparent = any($1::regclass[])`,
      [AUDIT_TABLES],
    )
    for (const { name } of rows) await pool.query(`alter table ${name} disable trigger user`)
    for (const statement of statements) await pool.query(statement)
  }
  return {
    ...dependencies,
    database,
    chainer,
    attack,
    async record(count) {
      await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
        for (let index = 0; index < count; index += 1) {
          recordedCount += 1
          const description = `entry ${recordedCount}`
          change.recordAudit({ action: 'test.recorded', target: null, description })
        }
      })
    },
    async checkpoint() {
      await chainer.flush()
      await signCheckpoint(dependencies)
      await exportCheckpoints(db, folder)
    },
    async chainAnew() {
      await attack(...FORGET_CHAIN)
      await createAuditChainer(db, { logError: () => undefined }).flush()
    },
    async close() {
      await chainer.stop()
      await database.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
