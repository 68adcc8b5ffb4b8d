import { sql, type Kysely } from 'kysely'
import { Client } from 'pg'
import { SUPERUSER } from '@heliograph/embedded-postgres'
import { toClientConfig } from '../src/platform/db/connection.ts'
import type { Schema } from '../src/schema/schema.ts'
import type { ServiceUnderTest } from './service-under-test.ts'

/** The line of the server's configuration without which it counts nothing. */
export const COUNTING_SETTING = "shared_preload_libraries = 'pg_stat_statements'"

/** Has the embedded server, started with `COUNTING_SETTING`, say how many statements it ran. */
export async function startCountingStatements({ services }: ServiceUnderTest): Promise<void> {
  const client = new Client({ ...toClientConfig(services.ownerConnection), user: SUPERUSER })
  await client.connect()
  try {
    await client.query('create extension pg_stat_statements')
  } finally {
    await client.end()
  }
}

/** How many statements of this database have run so far, the beginnings and ends of transactions among them. */
export async function countStatements(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select sum(calls)::float8 as count from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database())`.execute(db)
  return rows[0]?.count ?? 0
}
