/* Histories of millions of rows: partitions that are full, and a table as an earlier version left it. */
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'

const SIZE = 8_388_608

/** Devices with ids from 1, and a check. */
export async function insertSubjects(db: Kysely<Schema>, devices: number): Promise<void> {
  await sql`
    insert into device (host_identifier, name, platform, created_at, updated_at)
    select 'device ' || n, 'Device ' || n, 'linux', now(), now()
    from generate_series(1, ${devices}::int) n order by n`.execute(db)
}

/** Has the service leave partitions and retention to the benchmark. */
export async function holdJobs(db: Kysely<Schema>): Promise<void> {
  await sql`
    insert into job_run (name, started_at, finished_at)
    select name, now() + interval '1 day', now() + interval '1 day'
    from unnest(array['partitions', 'retention']) name
    on conflict (name) do update set started_at = excluded.started_at, finished_at = excluded.finished_at`.execute(
    db,
  )
}

export interface Filling {
  readonly partitions: number
  /** Of each. */
  readonly rows: number
}

/** Fills the first partitions of `check_transition`, of which every id is given out then. */
export async function fillPartitions(
  db: Kysely<Schema>,
  { partitions, rows }: Filling,
): Promise<void> {
  await sql`drop index check_transition_device_check`.execute(db)
  for (let number = 0; number < partitions; number += 1) {
    await sql`select setval('check_transition_id_seq', ${(number + 1) * SIZE - 1}::bigint)`.execute(
      db,
    )
    await sql`select advance_partitions('check_transition')`.execute(db)
    await sql`
      insert into check_transition (id, device_id, check_id, occurred_at, from_status, to_status,
        revision, initiating_entity, actor_name, reason, txn) overriding system value
      select ${number * SIZE}::bigint + n, 1 + n % (select count(*) from device),
        (select min(id) from posture_check), now() - interval '2 years', 'passing', 'failing', 1, 'system',
        'Heliograph', 'the check found something', md5(n::text)
      from generate_series(1, ${rows}::bigint) n`.execute(db)
  }
  await sql`select setval('check_transition_id_seq', ${partitions * SIZE + 1}::bigint)`.execute(db)
  await sql`create index check_transition_device_check on check_transition (device_id, check_id, id)`.execute(
    db,
  )
  await sql`select advance_partitions('check_transition')`.execute(db)
  await sql`vacuum (analyze) check_transition`.execute(db)
}

/** Has `device_status_transition` be one table, with so many rows. */
export async function fillPlainTable(db: Kysely<Schema>, rows: number): Promise<void> {
  await sql`alter table device_status_transition detach partition partitions.device_status_transition`.execute(
    db,
  )
  await sql`drop table device_status_transition`.execute(db)
  await sql`alter table partitions.device_status_transition set schema public`.execute(db)
  await sql`alter table device_status_transition alter id add generated always as identity`.execute(
    db,
  )
  await sql`
    insert into device_status_transition (device_id, occurred_at, from_state, to_state, from_compliance,
      to_compliance, initiating_entity, actor_name, reason, txn)
    select 1 + n % (select count(*) from device), now() - interval '1 year', 'Good', 'Blocked', 'compliant',
      'not-compliant', 'system', 'Heliograph', 'an issue opened', md5(n::text)
    from generate_series(1, ${rows}::bigint) n`.execute(db)
  await sql`vacuum (analyze) device_status_transition`.execute(db)
}

/** Adds a change of a result, as an answer of the device does. */
export async function addTransition(db: Kysely<Schema>, deviceId: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`update device set updated_at = now() where id = ${deviceId}`.execute(tx)
    await sql`
      insert into check_transition (device_id, check_id, occurred_at, from_status, to_status, revision,
        initiating_entity, actor_name, reason, txn)
      select ${deviceId}, min(id), now(), 'passing', 'failing', 1, 'system', 'Heliograph', '', 't'
      from posture_check`.execute(tx)
    await sql`
      insert into device_status_transition (device_id, occurred_at, from_state, to_state, from_compliance,
        to_compliance, initiating_entity, actor_name, reason, txn)
      values (${deviceId}, now(), 'Good', 'Good', 'compliant', 'compliant', 'system', 'Heliograph', '', 't')`.execute(
      tx,
    )
  })
}
