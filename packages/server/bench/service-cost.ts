/*
 * What the service under test has used so far: CPU time of its own and of PostgreSQL, bytes of the log, transactions.
 */
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'
import { findParentPid, readCpuTimes } from './process-cpu.ts'
import type { ServiceUnderTest } from './service-under-test.ts'

/** What has been used since the start. */
export interface ServiceCost {
  readonly serviceCpuMs: number
  /** 0 when PostgreSQL runs on another machine. */
  readonly databaseCpuMs: number
  readonly walBytes: number
}

/** Opens what reads the cost of a service so far. */
export function openCostReader({
  pid,
  services: { db },
}: ServiceUnderTest): Promise<() => Promise<ServiceCost>> {
  return openCostReaderOf([pid], db)
}

/** Opens what reads the cost of several processes and of their one database so far. */
export async function openCostReaderOf(
  pids: readonly number[],
  db: Kysely<Schema>,
): Promise<() => Promise<ServiceCost>> {
  const databasePid = await findDatabasePid(db)
  // PostgreSQL runs under the service when it is the embedded one: counted once.
  return async () => {
    const cpu = await readCpuTimes()
    const databasePids = databasePid === undefined ? [] : [databasePid]
    const databaseCpuMs = cpu.ofTrees(databasePids)
    const both = cpu.ofTrees([...pids, ...databasePids])
    return {
      serviceCpuMs: both - databaseCpuMs,
      databaseCpuMs,
      walBytes: await readWalPosition(db),
    }
  }
}

/** CPU time of the service and of PostgreSQL together. */
export function toCpuMs({ serviceCpuMs, databaseCpuMs }: ServiceCost): number {
  return serviceCpuMs + databaseCpuMs
}

/** The process that started the one behind this connection, when both are on this machine. */
async function findDatabasePid(db: Kysely<Schema>): Promise<number | undefined> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return findParentPid(rows[0]?.pid ?? 0)
}

async function readWalPosition(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as bytes`.execute(db)
  return rows[0]?.bytes ?? 0
}
