/*
 * What receivers have made of signing keys, and who fetched the published ones. SQL only.
 */
import { sql, type Kysely } from 'kysely'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const proofTable = defineTable('signing_key_proof')

export type KeyProof = RecordOf<typeof proofTable>

/** A receiver has taken, or refused, a SET that a key signed. */
export interface KeyProofNote {
  readonly destinationId: DestinationId
  readonly kid: string
  readonly at: Date
  /** Where the receiver is; null when it is not known. */
  readonly address: string | null
  /** What it said when it refused the key; null when it took the SET. */
  readonly refusal: string | null
}

/** Proofs of keys that receivers can still find, of every stream: streams times published keys at most. */
export async function listKeyProofs(
  db: Kysely<Schema>,
  kids: readonly string[],
): Promise<KeyProof[]> {
  if (kids.length === 0) return []
  const rows = await db
    .selectFrom('signing_key_proof')
    .selectAll()
    .where('kid', 'in', [...kids])
    .execute()
  return rows.map(proofTable.fromRow)
}

/** Adds what was seen to the proofs; what concerns streams or keys that are gone is dropped. */
export async function putKeyProofs(
  db: Kysely<Schema>,
  notes: readonly KeyProofNote[],
): Promise<void> {
  if (notes.length === 0) return
  const rows = notes.map(({ destinationId, kid, at, address, refusal }) => ({
    destination_id: destinationId,
    kid,
    accepted_at: refusal === null ? at.toISOString() : null,
    refused_at: refusal === null ? null : at.toISOString(),
    refusal,
    address,
  }))
  await sql`
    insert into signing_key_proof as p (destination_id, kid, first_accepted_at, last_accepted_at,
      last_refused_at, refusal, address)
    select n.destination_id, n.kid, n.accepted_at, n.accepted_at, n.refused_at, n.refusal, n.address
    from json_to_recordset(${JSON.stringify(rows)}::json) as n (destination_id bigint, kid text,
      accepted_at timestamptz, refused_at timestamptz, refusal text, address text)
    join signing_key k on k.kid = n.kid
    join delivery_destination d on d.id = n.destination_id
    order by n.destination_id, n.kid
    on conflict (destination_id, kid) do update set
      first_accepted_at = coalesce(p.first_accepted_at, excluded.first_accepted_at),
      last_accepted_at = coalesce(excluded.last_accepted_at, p.last_accepted_at),
      last_refused_at = coalesce(excluded.last_refused_at, p.last_refused_at),
      refusal = coalesce(excluded.refusal, p.refusal),
      address = coalesce(excluded.address, p.address)`.execute(db)
}

/** Remembers who fetched the published keys when. */
export async function putJwksFetches(
  db: Kysely<Schema>,
  fetches: ReadonlyMap<string, Date>,
): Promise<void> {
  if (fetches.size === 0) return
  await sql`
    insert into jwks_fetch as f (address, last_fetched_at)
    select address, fetched_at
    from unnest(${[...fetches.keys()]}::text[],
      ${[...fetches.values()].map((at) => at.toISOString())}::timestamptz[])
      as seen (address, fetched_at)
    order by address
    on conflict (address) do update
      set last_fetched_at = greatest(f.last_fetched_at, excluded.last_fetched_at)`.execute(db)
}

/** Forgets all but the addresses that fetched last; answers nothing. Idempotent. */
export async function deleteOldJwksFetches(db: Kysely<Schema>, keptMax: number): Promise<void> {
  await sql`
    delete from jwks_fetch where last_fetched_at < (
      select last_fetched_at from jwks_fetch
      order by last_fetched_at desc offset ${keptMax} limit 1)`.execute(db)
}

/** When the published keys were last fetched: by anyone, and from each of the addresses. */
export async function findJwksFetches(
  db: Kysely<Schema>,
  addresses: readonly string[],
): Promise<{ readonly byAnyone: Date | null; readonly byAddress: ReadonlyMap<string, Date> }> {
  const last = await db
    .selectFrom('jwks_fetch')
    .select('last_fetched_at')
    .orderBy('last_fetched_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  const rows =
    addresses.length === 0
      ? []
      : await db
          .selectFrom('jwks_fetch')
          .selectAll()
          .where('address', 'in', [...addresses])
          .execute()
  return {
    byAnyone: last?.last_fetched_at ?? null,
    byAddress: new Map(rows.map((row) => [row.address, row.last_fetched_at])),
  }
}
