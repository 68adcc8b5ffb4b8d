/*
 * With a real standby of PostgreSQL 15 as Debian brings it. Where that is not there, the routing is tested by
 * read-replica.test.ts alone.
 */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { sql, type Kysely } from 'kysely'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { reservePort } from '../../../test/support/reserve-ports.ts'
import { openDatabase, toPreparedDb, type Database } from './database.ts'
import { DatabaseNetwork } from './database-network.ts'
import { readFromReplica, ReplicaRouter } from './read-replica.ts'

const PROGRAMS = '/usr/lib/postgresql/15/bin'
const isThere = existsSync(join(PROGRAMS, 'pg_basebackup'))

interface Tables {
  counter: { id: number; value: number }
  database_origin: { timeline_id: string; system_identifier: string }
}

describe.skipIf(!isThere)(`a standby (needs PostgreSQL 15 in ${PROGRAMS})`, () => {
  let folder: string
  let ports: { readonly primary: number; readonly standby: number }
  let one: Database<Tables>
  let other: Database<Tables>
  const logProblem = vi.fn()
  const user = process.getuid?.() === 0 ? findUser() : undefined
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(join(PROGRAMS, program), args, { ...user, cwd: '/' })
  const start = (name: 'primary' | 'standby') =>
    run(
      'pg_ctl',
      ...['start', '-w', '-D', join(folder, name), '-l', join(folder, `${name}.log`)],
      ...['-o', `-p ${ports[name]} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off`],
    )
  const stop = (name: 'primary' | 'standby') =>
    run('pg_ctl', 'stop', '-w', '-m', 'immediate', '-D', join(folder, name))
  const toUrl = (port: number) => ({ url: `postgres://owner@127.0.0.1:${port}/postgres` })

  /** As a process of the service opens it. */
  function open(): Database<Tables> {
    return openDatabase<Tables>(toUrl(ports.primary), {
      network: new DatabaseNetwork(),
      poolMax: 4,
      logError: () => undefined,
      readReplica: { connection: toUrl(ports.standby), logProblem },
    })
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'heliograph-standby-'))
    await chmod(folder, 0o755)
    if (user !== undefined) await chown(folder, user.uid, user.gid)
    ports = { primary: await reservePort(), standby: await reservePort() }
    const primary = join(folder, 'primary')
    await run('initdb', '-D', primary, '-U', 'owner', '-A', 'trust', '-E', 'UTF8', '--no-sync')
    await start('primary')
    const from = ['-h', '127.0.0.1', '-p', String(ports.primary), '-U', 'owner']
    await run('pg_basebackup', ...from, '-D', join(folder, 'standby'), '-R', '--no-sync')
    await start('standby')
    one = open()
    other = open()
    await sql`create table counter (id integer primary key, value integer not null)`.execute(one.db)
    await sql`insert into counter values (1, 0)`.execute(one.db)
    await sql`create table database_origin (
      timeline_id bigint, system_identifier bigint, noted_at timestamptz not null default now()
    )`.execute(one.db)
    await sql`insert into database_origin values (1, 7)`.execute(one.db)
    // Both are connected, and the standby has everything, before anything is counted.
    for (const each of [one, other]) await vi.waitFor(() => expectFromStandby(each.db), 30_000)
  }, 120_000)

  afterAll(async () => {
    await one.close()
    await other.close()
    for (const name of ['standby', 'primary'] as const) await stop(name).catch(() => undefined)
    await rm(folder, { recursive: true, force: true })
  }, 60_000)

  async function expectFromStandby(db: Kysely<Tables>): Promise<void> {
    expect((await readValue(db)).isStandby).toBe(true)
  }

  function readValue(db: Kysely<Tables>): Promise<{ value: number; isStandby: boolean }> {
    return readFromReplica(async () => {
      const { rows } = await sql<{ value: number; isStandby: boolean }>`
        select value, pg_is_in_recovery() as "isStandby" from counter`.execute(db)
      if (rows[0] === undefined) throw new Error('there is no row')
      return rows[0]
    })
  }

  const write = (value: number) => sql`update counter set value = ${value}`.execute(one.preparedDb)
  const onStandby = async (statement: string) => {
    const args = ['-h', '127.0.0.1', '-p', String(ports.standby), '-U', 'owner', '-d', 'postgres']
    await run('psql', ...args, '-qc', statement)
  }

  it('answers what was written a moment before, through whichever process, and never anything older', async () => {
    for (let value = 1; value <= 200; value += 1) {
      await write(value)
      const { db } = value % 2 === 0 ? one : other
      expect((await readValue(value % 3 === 0 ? toPreparedDb(db) : db)).value).toBe(value)
    }
    expect(one.replicaCounts?.replica).toBeGreaterThan(0)
    await vi.waitFor(() => expectFromStandby(toPreparedDb(one.db)), 30_000)
  })

  it('has the last of the log of the primary taken to its disk, where it would not be for seconds', async () => {
    // As the clean-up of a page does, and a change of the file of the log.
    for (const call of [`pg_logical_emit_message(false, '', '')`, 'pg_switch_wal()']) {
      await vi.waitFor(() => expectFromStandby(one.db), 30_000)
      await sql`select ${sql.raw(call)}`.execute(one.preparedDb)
      const { rows } = await sql<{ lsn: string }>`
        select pg_current_wal_insert_lsn()::text as lsn`.execute(one.preparedDb)
      await readValue(one.db)
      const isFlushed = sql<{ value: boolean }>`
        select pg_current_wal_flush_lsn() >= ${rows[0]?.lsn}::pg_lsn as value`
      // A busy machine may need longer than the read has waited; by itself the server would take more than this.
      let looksLeft = 100
      while ((await isFlushed.execute(one.preparedDb)).rows[0]?.value !== true) {
        expect((looksLeft -= 1)).toBeGreaterThan(0)
        await sleep(20)
        await readValue(one.db)
      }
    }
    await vi.waitFor(() => expectFromStandby(one.db), 30_000)
  })

  it('answers also where its sessions have another time zone, as behind a pooler that ignores what is asked for', async () => {
    const [primary, replica] = (['primary', 'standby'] as const).map((name) => {
      const timezone = name === 'primary' ? 'UTC' : 'Asia/Tokyo'
      const connectionString = toUrl(ports[name]).url
      return new Pool({ connectionString, max: 1, options: `-c timezone=${timezone}` })
    }) as [Pool, Pool]
    const router = new ReplicaRouter(primary, { replica, logProblem })
    logProblem.mockClear()
    // On a busy machine it may be too far behind at first.
    await vi.waitFor(async () => {
      const client = await readFromReplica(() => router.connect())
      client.release()
      expect(router.counts.replica).toBe(1)
    })
    await primary.end()
    await replica.end()
    expect(logProblem).not.toHaveBeenCalledWith('it has another database')
  })

  it('is passed over while it does not replay, and answers again when it does', async () => {
    // A problem that it had before would not be told again.
    await vi.waitFor(() => expectFromStandby(other.db), 30_000)
    logProblem.mockClear()
    await onStandby('select pg_wal_replay_pause()')
    await write(1_000)
    await vi.waitFor(async () => {
      expect(await readValue(other.db)).toEqual({ value: 1_000, isStandby: false })
      expect(logProblem).toHaveBeenCalledWith('it is behind')
    })
    await onStandby('select pg_wal_replay_resume()')
    await vi.waitFor(() => expectFromStandby(other.db), 30_000)
    expect((await readValue(other.db)).value).toBe(1_000)
  })

  it('is passed over while it is away, and answers again when it is back', async () => {
    await stop('standby')
    await write(2_000)
    expect(await readValue(one.db)).toEqual({ value: 2_000, isStandby: false })
    await start('standby')
    await vi.waitFor(() => expectFromStandby(one.db), 30_000)
  })

  it('is passed over when it is on a history of its own', async () => {
    await run('pg_ctl', 'promote', '-w', '-D', join(folder, 'standby'))
    await write(3_000)
    await vi.waitFor(async () => {
      expect(await readValue(one.db)).toEqual({ value: 3_000, isStandby: false })
      expect(logProblem).toHaveBeenCalledWith('it is no standby')
    })
  })
})

/** PostgreSQL does not run as root. */
function findUser(): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
