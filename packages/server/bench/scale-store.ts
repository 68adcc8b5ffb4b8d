import { sql, type Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'
import { bulkLoad } from './bulk-load.ts'
import { FLEET_TABLES, insertFleet } from './fleet-store.ts'
import { heldNodeKey, NODE_KEY_BEGIN } from './held-fleet-store.ts'

/** Of each device, as an organisation has them after a year. */
const RESULTS_PER_DEVICE = 40
const ISSUES_PER_DEVICE = 10
const TRANSITIONS_PER_DEVICE = 10

/** Fills an empty database with devices that have their history, and node keys by `heldNodeKey` of their ids. */
export async function insertScaledFleet(db: Kysely<Schema>, devices: number): Promise<void> {
  await bulkLoad(db, FLEET_TABLES, async (tx) => {
    await insertFleet(tx, {
      devices,
      people: Math.max(100, devices / 2),
      resultsPerDevice: RESULTS_PER_DEVICE,
      issues: devices * ISSUES_PER_DEVICE,
      transitions: devices * TRANSITIONS_PER_DEVICE,
    })
    await sql`
      update device set node_key_hash = sha256(convert_to(${NODE_KEY_BEGIN} || id, 'UTF8'))`.execute(
      tx,
    )
  })
  // Triggers have filled others; what PostgreSQL tidies up by itself would be measured with the units.
  await sql`vacuum (analyze)`.execute(db)
}

/** Devices that play a part in the measurement. */
export interface ScaledDevice {
  readonly id: string
  readonly nodeKey: string
}

/** Linux devices, spread over all of them. */
export async function listActiveDevices(
  db: Kysely<Schema>,
  { devices, count }: { readonly devices: number; readonly count: number },
): Promise<ScaledDevice[]> {
  const { rows } = await sql<{ id: string }>`
    select id::text as id from device
    where platform = 'linux' and auth_state = 'Good'
    order by id % greatest(1, ${devices}::int / (10 * ${count}::int)), id limit ${count}`.execute(
    db,
  )
  return rows.map(({ id }) => ({ id, nodeKey: heldNodeKey(id) }))
}

/** What agents on Linux call the checks that they run. */
export async function listQueryIds(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select 'check:' || id || ':' || revision as id from posture_check
    where paused_at is null and type <> 'external' and 'linux' = any(platforms)
      and coalesce(queries ->> 'linux', '') <> ''
    order by id`.execute(db)
  return rows.map(({ id }) => id)
}

/** Bytes of the whole database, indexes included. */
export async function readDatabaseBytes(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select pg_database_size(current_database())::float8 as bytes`.execute(db)
  return rows[0]?.bytes ?? 0
}
