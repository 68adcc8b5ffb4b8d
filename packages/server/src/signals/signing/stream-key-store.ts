/*
 * The streams that sign with another key than the rest: canaries of a new key, and streams whose
 * receiver refused it. SQL only; what follows from it is key-ring.ts's.
 */
import { sql, type Kysely } from 'kysely'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'
import { streamTable, type Stream } from '../streams/stream-store.ts'

const streamKeyTable = defineTable('stream_signing_key')

export type StreamKey = RecordOf<typeof streamKeyTable>

/** Every stream with a key of its own; as many as streams at most. */
export async function listStreamKeys(db: Kysely<Schema>): Promise<StreamKey[]> {
  const rows = await db
    .selectFrom('stream_signing_key')
    .selectAll()
    .orderBy('destination_id')
    .execute()
  return rows.map(streamKeyTable.fromRow)
}

/** Gives streams a key of their own; the last word counts. */
export async function putStreamKeys(db: Kysely<Schema>, rows: readonly StreamKey[]): Promise<void> {
  if (rows.length === 0) return
  await db
    .insertInto('stream_signing_key')
    .values(rows.map(streamKeyTable.toInsert))
    .onConflict((conflict) =>
      conflict.column('destination_id').doUpdateSet((update) => ({
        kid: update.ref('excluded.kid'),
        reason: update.ref('excluded.reason'),
        refused_kid: update.ref('excluded.refused_kid'),
        refusal: update.ref('excluded.refusal'),
        from_at: update.ref('excluded.from_at'),
        until_at: update.ref('excluded.until_at'),
      })),
    )
    .execute()
}

/** Lets streams sign like the rest again, as far as their own key has to do with `kid`. */
export async function deleteStreamKeysOf(db: Kysely<Schema>, kid: string): Promise<void> {
  await db
    .deleteFrom('stream_signing_key')
    .where((where) => where.or([where('kid', '=', kid), where('refused_kid', '=', kid)]))
    .execute()
}

/** The enabled streams that try a new key. */
export async function listCanaries(db: Kysely<Schema>, kid: string): Promise<Stream[]> {
  const rows = await db
    .selectFrom('ssf_stream')
    .innerJoin('stream_signing_key as own', 'own.destination_id', 'ssf_stream.destination_id')
    .selectAll('ssf_stream')
    .where('own.kid', '=', kid)
    .where('own.reason', '=', 'canary')
    .where('ssf_stream.status', '=', 'enabled')
    .execute()
  return rows.map(streamTable.fromRow)
}

/** As many deliveries as one change binds to another key; the rest follow when they are prepared. */
const REBOUND_MAX = 5_000

/**
 * Has what waits under `fromKid` signed with `toKid` instead: of one destination, or of all. What is
 * claimed right now is left to its claimant, which hears of a refusal by itself.
 */
export async function rebindQueued(
  db: Kysely<Schema>,
  binding: {
    readonly fromKid: string
    readonly toKid: string
    readonly destinationId: DestinationId | null
  },
): Promise<void> {
  const { fromKid, toKid, destinationId } = binding
  await sql`
    update delivery set signing_kid = ${toKid}, token = null, detached_token = null
    where id in (
      select id from delivery
      where state = 'queued' and signing_kid = ${fromKid}
        and (${destinationId}::bigint is null or destination_id = ${destinationId}::bigint)
        and (claim_expires_at is null or claim_expires_at <= now())
      limit ${REBOUND_MAX}
      for update skip locked)`.execute(db)
}
