import { OWNER_ROLE } from '@heliograph/embedded-postgres'
import type { Kysely } from 'kysely'
import { Client } from 'pg'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { withDatabase } from '../../test/support/with-database.ts'
import { SYSTEM_ACTOR } from '../changes/audit/audit-entry.ts'
import { listAuditPowers } from '../changes/audit/audit-guard-read.ts'
import { createAuditChainer } from '../changes/audit/chain/audit-chainer.ts'
import { hasUnsettledEntries } from '../changes/audit/chain/chain-store.ts'
import { signCheckpoint } from '../changes/audit/checkpoints/sign-checkpoint.ts'
import { cutAuditChain } from '../changes/audit/cut-audit-chain.ts'
import { verifyAuditChain } from '../changes/audit/verify-audit-chain.ts'
import { createChangeRunner } from '../changes/change.ts'
import { databaseOf, roleOf, toClientConfig, withRole } from '../platform/db/connection.ts'
import { findDatabaseFault } from '../platform/db/database-fault.ts'
import { openDatabase, type Database } from '../platform/db/database.ts'
import { createWriteCheck } from '../platform/db/write-check.ts'
import { parseMasterKeys } from '../platform/secrets/master-key.ts'
import { createSealer } from '../platform/secrets/sealed-box.ts'
import { SILENT_LOGGER } from '../platform/silent-logger.ts'
import { syncReportingViews } from '../posture/reporting/reporting-view-store.ts'
import { migrateDatabase } from './migrate.ts'
import type { Schema } from './schema.ts'
import { grantServiceRole } from './service-role-store.ts'

/** As the role of the service, in a database that another role owns. */
let database: TestDatabase
let owner: Database<Schema>
let folder: string

beforeAll(async () => {
  database = await createTestDatabase({ isEmpty: true })
  const { administration } = inject('postgres')
  const name = databaseOf(database.connection)
  const client = new Client(toClientConfig(withDatabase(administration, name)))
  await client.connect()
  await client.query(
    `do $$ begin create role ${OWNER_ROLE} login password 'owner'; exception when duplicate_object then null; end $$`,
  )
  await client.query(`alter database "${name}" owner to ${OWNER_ROLE}`)
  await client.end()
  const connection =
    'url' in database.connection
      ? withRole(database.connection, OWNER_ROLE, 'owner')
      : { ...database.connection, user: OWNER_ROLE }
  await migrateDatabase(connection, { log: SILENT_LOGGER })
  owner = openDatabase<Schema>(connection, {
    network: database.network,
    poolMax: 1,
    logError: () => undefined,
  })
  await syncReportingViews(owner.db)
  // As the embedded database has it, and as it should be where reporting queries run.
  await owner.pool.query(`revoke temporary on database "${name}" from public`)
  await grantServiceRole(owner.db, roleOf(database.connection))
  folder = await mkdtemp(join(tmpdir(), 'audit-checkpoints-'))
  await writeAuditLog(database.db)
})

afterAll(async () => {
  await owner.close()
  await database.close()
  await rm(folder, { recursive: true, force: true })
})

/** What the service does with its audit log: entries, the chain, a checkpoint, a cut. */
async function writeAuditLog(db: Kysely<Schema>): Promise<void> {
  const clock = new ManualClock('2020-01-01T00:00:00Z')
  const runChange = createChangeRunner(db, clock, [])
  await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    for (let index = 0; index < 600; index += 1) {
      change.recordAudit({ action: 'test.recorded', target: null, description: `entry ${index}` })
    }
  })
  await createAuditChainer(db, { logError: () => undefined }).flush()
  const sealer = createSealer(parseMasterKeys(randomBytes(32).toString('base64'), 'test'))
  await signCheckpoint({ db, clock, runChange, sealer, folder, baseUrl: 'https://example.com' })
  await cutAuditChain({ db, runChange }, new Date('2020-02-01T00:00:00Z'))
}

/** Ways to change the log, of whoever has the connections of the service. */
const ATTACKS: readonly string[] = [
  ...['audit_entry', 'audit_link', 'audit_subtree', 'audit_chain', 'audit_checkpoint'].flatMap(
    (table) => [
      `alter table ${table} disable trigger user`,
      `alter table ${table} disable trigger all`,
      `alter table ${table} owner to current_user`,
      `drop table ${table} cascade`,
      `truncate ${table}`,
      `delete from ${table}`,
      `create rule r as on insert to ${table} do instead nothing`,
      `create trigger t before insert on ${table} for each row execute function audit_rows_are_kept()`,
      `do $$ begin lock table ${table} in access exclusive mode; end $$`,
    ],
  ),
  `update audit_entry set description = 'harmless'`,
  `update audit_link set hash = sha256('x')`,
  `update audit_chain set size = 0`,
  `update audit_checkpoint set note = ''`,
  `delete from audit_checkpoint_key`,
  `insert into audit_entry (sequence, recorded_at, actor_type, actor_name, action, description, txn)
   values (-1, now(), 'System', 'x', 'x', 'x', 'x')`,
  `insert into audit_link (position, entry_sequence, hash) values (-1, -1, sha256('x'))`,
  `insert into audit_subtree (level, index, hash) values (9, 1, sha256('x'))`,
  `update audit_description_block set texts = ''`,
  `delete from partitions.audit_entry`,
  `truncate partitions.audit_entry_default`,
  `insert into partitions.audit_entry select * from audit_entry limit 1`,
  `alter table audit_entry detach partition partitions.audit_entry`,
  `drop table partitions.audit_entry`,
  `select make_partition('audit_entry', 'audit_entry_0', 0, 1)`,
  `select put_partitioned_table('audit_chain', 'id', 9)`,
  `select give_default_bounds('audit_entry', 0, 1)`,
  `drop trigger audit_entry_kept on audit_entry`,
  `drop function audit_rows_are_kept() cascade`,
  `create or replace function audit_rows_are_kept() returns trigger language plpgsql as $$ begin return old; end $$`,
  `alter function cut_audit_chain(bigint) owner to current_user`,
  `set session_replication_role = replica`,
  `set role ${OWNER_ROLE}`,
  `set session authorization ${OWNER_ROLE}`,
  `select setval('audit_entry_number', 1)`,
  `drop sequence audit_entry_number cascade`,
  `drop schema public cascade`,
  `alter schema public rename to other`,
  `alter database current_database owner to current_user`,
  `delete from schema_migration`,
  `create function public.f() returns int language sql as 'select 1'`,
  // The functions that it may call check what they are asked for.
  `select cut_audit_chain(512)`,
  `select cut_audit_chain(768)`,
  `select link_audit_entries(1, '{1}', array[sha256('x')], '{}', '{}', '{}', '', 0)`,
  `select link_audit_entries((select size + 1 from audit_chain), '{999999}', array[sha256('x')], '{}', '{}', '{}', '', 0)`,
  `select append_pending_audit_entries()`,
]

describe('the role of the service', () => {
  it.each(ATTACKS)('cannot %s', async (statement) => {
    await expect(database.pool.query(statement)).rejects.toThrow(
      /permission denied|must be owner|must be able to SET ROLE|cannot be cut|has moved on|can be chained|can only be called as triggers|does not exist|append-only/,
    )
  })

  it('leaves a log that is whole', async () => {
    await createAuditChainer(database.db, { logError: () => undefined }).flush()
    expect(await verifyAuditChain(database.db)).toMatchObject({
      isWhole: true,
      entryCount: 600 - 512 + 2,
      cut: { entryCount: 512 },
    })
  })

  it('brings the chain to rest, so that nobody looks for what is settled again', async () => {
    const failures: unknown[] = []
    const chainer = createAuditChainer(database.db, { logError: (error) => failures.push(error) })
    const isAtRest = async () => {
      await chainer.flush()
      return !(await hasUnsettledEntries(database.db))
    }
    await expect.poll(isAtRest).toBe(true)
    expect(failures).toEqual([])
  })

  it('is said to have no power over the log, and the owner to have it', async () => {
    expect(await listAuditPowers(database.db)).toEqual([])
    expect(await listAuditPowers(owner.db)).toEqual([
      'owns the database or its schema',
      'owns audit_chain, audit_checkpoint, audit_entry, audit_link, audit_subtree',
    ])
  })

  it('has partitions made and dropped, but those of the audit log only when they are empty', async () => {
    await owner.pool.query(`select setval('audit_entry_number', 20000000)`)
    await owner.pool.query(`select setval('check_transition_id_seq', 20000000)`)
    for (const table of ['audit_entry', 'check_transition']) {
      const { rows } = await database.pool.query('select advance_partitions($1) as step', [table])
      expect(rows).toEqual([{ step: 'collected' }])
    }
    const drop = (table: string) => database.pool.query(`select drop_partition($1, $1)`, [table])
    await expect(drop('audit_entry')).rejects.toThrow('append-only')
    await expect(drop('check_transition')).resolves.toBeDefined()
    await expect(drop('device')).rejects.toThrow('is none that can be dropped')
    expect(await listAuditPowers(database.db)).toEqual([])
  })

  it('can try whether anything can be written', async () => {
    const fault = findDatabaseFault(Object.assign(new Error('no'), { code: '53100' }))
    const forgetWriteFault = vi.fn()
    await createWriteCheck(database.db, { writeFault: () => fault, forgetWriteFault })()
    expect(forgetWriteFault).toHaveBeenCalledOnce()
  })

  it('keeps its rights and no others when they are granted again', async () => {
    await grantServiceRole(owner.db, roleOf(database.connection))
    expect(await listAuditPowers(database.db)).toEqual([])
    await expect(database.pool.query('select count(*) from device')).resolves.toBeDefined()
  })
})
