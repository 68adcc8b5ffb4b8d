/*
 * What an audited change costs: changes a second, WAL and CPU time of PostgreSQL for each, in an embedded database
 * of its own. With a delay of commits in milliseconds (as of a slow disk or a synchronous standby) also how much
 * changes wait for each other.
 *
 *     node --conditions=source packages/server/bench/audited-changes-program.ts [seconds] [changes at once] [delay]
 */
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { removeDataFolder } from '@heliograph/embedded-postgres'
import { loadConfig } from '../src/app/config/load-config.ts'
import { openFoundation } from '../src/app/foundation.ts'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { SILENT_LOGGER } from '../src/platform/silent-logger.ts'

const [seconds = 10, concurrency = 16, delayMs = 0] = process.argv.slice(2).map(Number)
/** Of the kernel's clock, by which it counts the time of processes. */
const TICKS_PER_SECOND = 100

const dataDir = await mkdtemp(join(tmpdir(), 'heliograph-audited-'))
const config = loadConfig({ HELIOGRAPH_DATA_DIR: dataDir })
const foundation = await openFoundation(config, { purpose: 'service', log: SILENT_LOGGER })
const administration = new Client({
  ...foundation.connection,
  user: 'postgres',
  database: 'postgres',
})
await administration.connect()
try {
  await setCommitDelay()
  if ('auditChainer' in foundation) foundation.auditChainer.start()
  await run(1)
  const before = await measure()
  const count = await run(seconds)
  if ('auditChainer' in foundation) await foundation.auditChainer.flush()
  const after = await measure()
  const perChange = (from: number, to: number) => (to - from) / count
  process.stdout.write(
    `${JSON.stringify({
      changes_per_second: Math.round(count / seconds),
      wal_bytes_per_change: Math.round(perChange(before.walBytes, after.walBytes)),
      postgres_cpu_ms_per_change: perChange(before.cpuMs, after.cpuMs).toFixed(2),
    })}\n`,
  )
} finally {
  await administration.end()
  if ('auditChainer' in foundation) await foundation.auditChainer.stop()
  await foundation.close()
  await removeDataFolder(dataDir, SILENT_LOGGER)
  await rm(dataDir, { recursive: true, force: true })
}

async function setCommitDelay(): Promise<void> {
  await administration.query(`alter system set commit_delay = ${delayMs * 1000}`)
  await administration.query('alter system set commit_siblings = 0')
  await administration.query('select pg_reload_conf()')
}

/** Makes changes for so long, so many at a time, and answers how many were committed. */
async function run(forSeconds: number): Promise<number> {
  const endMs = performance.now() + forSeconds * 1000
  let count = 0
  const makeChanges = async () => {
    while (performance.now() < endMs) {
      await foundation.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
        change.recordAudit({
          action: 'device.updated',
          target: { type: 'device', id: String(count) },
          description: `renamed the device SN${count} to lab-${count}`,
          before: { name: `SN${count}` },
          after: { name: `lab-${count}` },
        }),
      )
      count += 1
    }
  }
  await Promise.all(Array.from({ length: concurrency }, makeChanges))
  return count
}

async function measure(): Promise<{ walBytes: number; cpuMs: number }> {
  const { rows } = await administration.query<{ bytes: string }>(
    `select pg_current_wal_insert_lsn() - '0/0' as bytes`,
  )
  const { rows: processes } = await administration.query<{ pid: number }>(
    'select pid from pg_stat_activity',
  )
  const ticks = processes.reduce((sum, { pid }) => sum + ticksOf(pid), 0)
  return { walBytes: Number(rows[0]?.bytes), cpuMs: (ticks * 1000) / TICKS_PER_SECOND }
}

/** User and system time of a process; proc(5). */
function ticksOf(pid: number): number {
  if (!readdirSync('/proc').includes(String(pid))) return 0
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return Number(fields[11]) + Number(fields[12])
}
