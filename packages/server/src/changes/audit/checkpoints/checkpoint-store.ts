import { sql, type Kysely } from 'kysely'
import { findRecord, listRecords } from '../../../platform/db/record-table.ts'
import { defineTable, type RecordOf, type StoredRecord } from '../../../schema/define-table.ts'
import type { Schema } from '../../../schema/schema.ts'

const keyTable = defineTable('audit_checkpoint_key')

export type CheckpointKeyRecord = RecordOf<typeof keyTable>

/** The keys of checkpoints, first the one that signs, then the newest. There are few: one per rotation. */
export async function listCheckpointKeys(db: Kysely<Schema>): Promise<CheckpointKeyRecord[]> {
  const rows = await db
    .selectFrom('audit_checkpoint_key')
    .selectAll()
    .orderBy('retired_at', (order) => order.desc().nullsFirst())
    .orderBy('created_at', 'desc')
    .execute()
  return rows.map(keyTable.fromRow)
}

export async function insertCheckpointKey(
  db: Kysely<Schema>,
  key: CheckpointKeyRecord,
): Promise<void> {
  await keyTable.insert(db, key)
}

/** Ends the use of every key but this one. */
export async function retireCheckpointKeysExcept(
  db: Kysely<Schema>,
  id: string,
  retiredAt: Date,
): Promise<void> {
  await db
    .updateTable('audit_checkpoint_key')
    .set({ retired_at: retiredAt })
    .where('id', '!=', id)
    .where('retired_at', 'is', null)
    .execute()
}

/** A checkpoint as it is stored; its text is what counts. */
export interface StoredCheckpoint {
  readonly id: string
  readonly size: number
  readonly signedAt: Date
  readonly note: string
}

/** The checkpoint of a log that covers most entries, the last one of them. */
export async function findLatestCheckpoint(
  db: Kysely<Schema>,
  origin: string,
): Promise<StoredCheckpoint | undefined> {
  const row = await findRecord(
    db
      .selectFrom('audit_checkpoint')
      .selectAll()
      .where('origin', '=', origin)
      .orderBy('size', 'desc')
      .orderBy('id', 'desc')
      .limit(1),
  )
  return row && toStored(row)
}

/** The checkpoints of a log that cover more than `size` entries, in their order, `limit` at most. */
export async function listCheckpointsBeyond(
  db: Kysely<Schema>,
  origin: string,
  size: number,
  limit: number,
): Promise<StoredCheckpoint[]> {
  const rows = await listRecords(
    db
      .selectFrom('audit_checkpoint')
      .selectAll()
      .where('origin', '=', origin)
      .where('size', '>', String(size))
      .orderBy('size')
      .orderBy('id')
      .limit(limit),
  )
  return rows.map(toStored)
}

/** For each of these sizes the first checkpoint of a log that covers more, if there is one. */
export async function listNextCheckpoints(
  db: Kysely<Schema>,
  origin: string,
  sizes: readonly number[],
): Promise<ReadonlyMap<number, StoredCheckpoint>> {
  const { rows } = await sql<StoredRecord<'audit_checkpoint'> & { after: string }>`
    select asked.size as after, next.id, next.size, next.signed_at as "signedAt", next.note from unnest(${sizes}::bigint[]) as asked (size)
    cross join lateral (
      select * from audit_checkpoint where origin = ${origin} and size > asked.size
      order by size, id limit 1) as next`.execute(db)
  return new Map(rows.map((row) => [Number(row.after), toStored(row)]))
}

/**
 * Up to where a chain of `size` may be cut: what a checkpoint covers, and not past one of the last 30 days. The
 * database holds whoever cuts to that.
 */
export async function findCuttableSize(db: Kysely<Schema>, size: number): Promise<number> {
  const { rows } = await sql<{ size: string }>`
    select least(
      coalesce(max(size) filter (where size <= ${size}), 0),
      min(size) filter (where signed_at > now() - interval '30 days')) as size
    from audit_checkpoint`.execute(db)
  return Number(rows[0]?.size ?? 0)
}

/** The texts of all checkpoints, of every log that there was. */
export async function listCheckpointNotes(db: Kysely<Schema>): Promise<string[]> {
  const rows = await db.selectFrom('audit_checkpoint').select('note').orderBy('id').execute()
  return rows.map(({ note }) => note)
}

export async function insertCheckpoint(
  db: Kysely<Schema>,
  checkpoint: { origin: string; size: number; signedAt: Date; note: string },
): Promise<void> {
  const { origin, size, signedAt, note } = checkpoint
  await db
    .insertInto('audit_checkpoint')
    .values({ origin, size, signed_at: signedAt, note })
    .execute()
}

function toStored({
  id,
  size,
  signedAt,
  note,
}: StoredRecord<'audit_checkpoint'>): StoredCheckpoint {
  return { id, size: Number(size), signedAt, note }
}
