import { sql, type Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'

export const NODE_KEY_BEGIN = 'bench-held-key-'

/** The node key of the n-th device. */
export function heldNodeKey(n: number | string): string {
  return `${NODE_KEY_BEGIN}${n}`
}

/** Inserts enrolled devices, ids and names from 1, with node keys by `heldNodeKey`; none has checks that are due. */
export async function insertHeldFleet(db: Kysely<Schema>, count: number): Promise<void> {
  await sql`
    insert into device (host_identifier, name, platform, enrolled_at, node_key_hash, checks_ran_at,
      created_at, updated_at)
    select 'bench-' || n, 'bench-' || n, 'linux', now() - interval '1 day',
      sha256(convert_to(${NODE_KEY_BEGIN} || n, 'UTF8')), now(), now(), now()
    from generate_series(1, ${count}::int) n order by n`.execute(db)
  await sql`insert into device_round (device_id, ran_at) select id, now() from device`.execute(db)
}
