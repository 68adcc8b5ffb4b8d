/*
 * Between which ids a statement looks for deliveries. The bounds are part of its text, so that PostgreSQL plans, opens
 * and locks the partitions between them and no others: what is done with each delivery costs the same however many
 * are kept. And the condition by which statements ask what waits of a subject. SQL only.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** Ids from the first one on, below the second one. */
export interface DeliveryRange {
  readonly fromId: bigint
  /** Null for no bound. */
  readonly toId: bigint | null
}

/** Bounds are multiples of what a partition holds (`partitioned_tables()`), so that a statement has few texts. */
export const PARTITION_IDS = 8_388_608n
/** More than are queued between two looks at the last id. */
const HEADROOM_IDS = PARTITION_IDS / 8n

export const EVERY_DELIVERY: DeliveryRange = { fromId: 0n, toId: null }

/** The range of these deliveries. */
export function toDeliveryRange(ids: readonly string[]): DeliveryRange {
  let first: bigint | undefined
  let last = 0n
  for (const id of ids.map(BigInt)) {
    if (first === undefined || id < first) first = id
    if (id > last) last = id
  }
  return { fromId: toPartitionStart(first ?? 0n), toId: toPartitionStart(last) + PARTITION_IDS }
}

/** The first id that may be in a partition with this one. */
export function toPartitionStart(id: bigint): bigint {
  return id - (id % PARTITION_IDS)
}

/** Names are few, and conditions are made for every statement. */
const ids = new Map<string, RawBuilder<unknown>>()

function idOf(name: string): RawBuilder<unknown> {
  const known = ids.get(name)
  if (known !== undefined) return known
  const id = sql`${sql.ref(`${name}.id`)}`
  ids.set(name, id)
  return id
}

/** The ids of a range, as a condition on a name of `delivery`. */
export function isWithin(name: string, { fromId, toId }: DeliveryRange): RawBuilder<unknown> {
  const id = idOf(name)
  const isBelow = toId === null ? sql`true` : sql`${id} < ${sql.lit(toId)}`
  return fromId === 0n ? isBelow : sql`(${id} >= ${sql.lit(fromId)} and ${isBelow})`
}

/**
 * Whether a delivery is queued, as a condition on a name of `delivery`, for statements that look for those of a
 * subject: said so that of the indexes of the queue only that of the subjects serves it. By `state = 'queued'`
 * PostgreSQL takes that of the times when it plans while nothing is queued, and reads the whole queue for each
 * subject later.
 */
export function isUnfinished(name: string): RawBuilder<unknown> {
  return sql`${sql.ref(`${name}.state`)} not in ('delivered', 'dead', 'discarded')`
}

/** An id that no delivery reaches until this is asked again soon. */
export async function findDeliveryEnd(db: Kysely<Schema>): Promise<bigint> {
  const { rows } = await sql<{ lastId: string }>`
    select partition_position('delivery')::text as "lastId"`.execute(db)
  return toPartitionStart(BigInt(rows[0]?.lastId ?? 0) + HEADROOM_IDS) + PARTITION_IDS
}
