/*
 * The audit chain as rows: how far it is, its links, and what waits to be linked. SQL only; the order and the
 * hashes are link-audit-entries.ts's.
 */
import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import { toRecord } from '../../../platform/db/record-table.ts'
import type { Schema } from '../../../schema/schema.ts'
import { CUT_ACTION } from '../audit-entry.ts'
import type { AuditEntryRow } from '../audit-store.ts'
import { HASH_BYTES, TreeFrontier, type TreeNode } from '../tree/merkle-tree.ts'

/** As many as are summarised at once: 8,192 entries. */
const TEXT_BLOCKS_MAX = 256

/** How far the chain is. */
export interface AuditChain {
  /** The entries in the chain, with those that were cut. */
  readonly size: number
  /** The hash of the last one. */
  readonly head: Buffer
  readonly frontier: TreeFrontier
  /** No entry up to this number is unchained, or will be. */
  readonly settledSequence: bigint
  /** The entries up to this place are gone. */
  readonly cutPosition: number
  /** The hash of the last one that is gone. */
  readonly cutHead: Buffer
  readonly cutAt: Date | null
}

export async function getAuditChain(db: Kysely<Schema>): Promise<AuditChain> {
  const row = await db.selectFrom('audit_chain').selectAll().executeTakeFirstOrThrow()
  const roots = Array.from({ length: row.frontier.length / HASH_BYTES }, (_, place) =>
    row.frontier.subarray(place * HASH_BYTES, (place + 1) * HASH_BYTES),
  )
  const size = Number(row.size)
  return {
    size,
    head: row.head,
    frontier: new TreeFrontier(size, roots),
    settledSequence: BigInt(row.settled_sequence),
    cutPosition: Number(row.cut_position),
    cutHead: row.cut_head,
    cutAt: row.cut_at,
  }
}

/**
 * Entries that are not in the chain, beyond the settled ones. `offset 0` keeps the look-up one by the index for
 * each of these few: PostgreSQL, which cannot know that they are few, would read all of the links.
 */
const unchained = sql`audit_entry.sequence > (select settled_sequence from audit_chain)
  and not exists (select from audit_link where entry_sequence = audit_entry.sequence offset 0)`

/** Whether an entry waits for its place in the chain, or could still come before the last one. */
export async function hasUnsettledEntries(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select (select max(sequence) from audit_entry) > settled_sequence as has
    from audit_chain`.execute(db)
  return rows[0]?.has === true
}

/** Up to this number every entry is in the chain, and none is still to come. */
export async function updateSettledSequence(
  tx: Transaction<Schema>,
  settledSequence: bigint,
): Promise<void> {
  await sql`select settle_audit_entries(${settledSequence}::bigint)`.execute(tx)
}

export interface UnchainedEntries {
  readonly entryCount: number
  readonly oldestRecordedAt: Date | null
}

/** What waits for its place in the chain, counted up to a limit: after an upgrade it can be everything. */
export async function countUnchainedEntries(
  db: Kysely<Schema>,
  limit: number,
): Promise<UnchainedEntries> {
  const { rows } = await sql<{ count: string; oldest: Date | null }>`
    select count(*) as count, min(recorded_at) as oldest
    from (select recorded_at from audit_entry where ${unchained}
      order by sequence limit ${limit}) waiting`.execute(db)
  return { entryCount: Number(rows[0]?.count ?? 0), oldestRecordedAt: rows[0]?.oldest ?? null }
}

/** The first entry that has no place in the chain and will not get one; undefined when there is none. */
export async function findEntryBesideChain(db: Kysely<Schema>): Promise<string | undefined> {
  const { rows } = await sql<{ sequence: string }>`
    select sequence from audit_entry
    where sequence <= (select settled_sequence from audit_chain)
      and not exists (select from audit_link where entry_sequence = audit_entry.sequence)
    order by sequence limit 1`.execute(db)
  return rows[0]?.sequence
}

/** Whether an entry that waits for its place in the chain tells of the cut at a place. */
export async function isCutUnchained(db: Kysely<Schema>, position: number): Promise<boolean> {
  const { rows } = await sql`
    select from audit_entry where ${unchained} and action = ${CUT_ACTION}
      and after->>'position' = ${String(position)} limit 1`.execute(db)
  return rows.length > 0
}

/** How far entries are committed, and which transactions were under way, at one moment. */
export interface CommittedEntries {
  /**
   * The highest number of a committed entry. Its commit is on disk, so that no crash lets a number up to it be
   * drawn again; one that was only drawn could be.
   */
  readonly lastSequence: bigint
  /** Every transaction with a lower id has ended. */
  readonly oldestTransaction: bigint
  /** Another one after a failover: its transactions and numbers are others. */
  readonly server: string
}

export async function readCommittedEntries(tx: Transaction<Schema>): Promise<CommittedEntries> {
  const { rows } = await sql<{ last: string; oldest: string; server: string }>`
    select (select coalesce(max(sequence), 0) from audit_entry) as last,
      pg_snapshot_xmin(pg_current_snapshot())::text as oldest,
      pg_postmaster_start_time()::text as server`.execute(tx)
  const [row] = rows
  if (row === undefined) throw new Error('the database answered nothing')
  return {
    lastSequence: BigInt(row.last),
    oldestTransaction: BigInt(row.oldest),
    server: row.server,
  }
}

/** The id of this transaction, which is later than every one that was given before. */
export async function takeTransactionId(tx: Transaction<Schema>): Promise<bigint> {
  const { rows } = await sql<{ id: string }>`select pg_current_xact_id()::text as id`.execute(tx)
  return BigInt(rows[0]?.id ?? 0)
}

/** The entries that wait for their place in the chain, in the order of their numbers. */
export async function listUnchainedEntries(
  db: Kysely<Schema>,
  limit: number,
): Promise<AuditEntryRow[]> {
  const { rows } = await sql<Selectable<Schema['audit_entry']>>`
    select * from audit_entry where ${unchained} order by sequence limit ${limit}`.execute(db)
  return rows.map(toRecord)
}

/** Entries with their hashes, to go into the chain one after the other. */
export interface NewLinks {
  readonly firstPosition: number
  readonly sequences: readonly string[]
  readonly hashes: readonly Buffer[]
  readonly nodes: readonly TreeNode[]
  readonly frontier: TreeFrontier
  readonly settledSequence: bigint
}

/** Puts entries into the chain. Fails when the chain has moved on since it was read. */
export async function insertLinks(tx: Transaction<Schema>, links: NewLinks): Promise<void> {
  const { nodes } = links
  await sql`select link_audit_entries(
    ${links.firstPosition}::bigint, ${links.sequences}::bigint[], ${links.hashes}::bytea[],
    ${nodes.map(({ level }) => level)}::smallint[], ${nodes.map(({ index }) => index)}::bigint[],
    ${nodes.map(({ hash }) => hash)}::bytea[],
    ${Buffer.concat(links.frontier.roots)}::bytea, ${links.settledSequence}::bigint)`.execute(tx)
}

/** Makes settled entries ready to be searched by their texts, up to some of them; answers whether there are more. */
export async function summariseTexts(tx: Transaction<Schema>): Promise<boolean> {
  const { rows } = await sql<{ has_more: boolean }>`
    select summarise_audit_descriptions(${TEXT_BLOCKS_MAX}) as has_more`.execute(tx)
  return rows[0]?.has_more === true
}

/** The commit need not be on disk when it answers: what a crash loses of it is made again. */
export async function commitLazily(tx: Transaction<Schema>): Promise<void> {
  await sql`set local synchronous_commit = off`.execute(tx)
}

/** A place of the chain with its entry; the entry is null when it is gone. */
export interface ChainLink {
  readonly position: number
  readonly sequence: string
  readonly hash: Buffer
  readonly entry: AuditEntryRow | null
}

type LinkRow = Selectable<Schema['audit_entry']> & {
  link_position: string
  link_sequence: string
  link_hash: Buffer
  sequence: string | null
}

/** The places after `afterPosition` in the order of the chain, `limit` at most. */
export async function listChain(
  db: Kysely<Schema>,
  afterPosition: number,
  limit: number,
): Promise<ChainLink[]> {
  const { rows } = await sql<LinkRow>`
    select position as link_position, entry_sequence as link_sequence, audit_link.hash as link_hash,
      audit_entry.*
    from audit_link left join audit_entry on audit_entry.sequence = entry_sequence
    where position > ${afterPosition} order by position limit ${limit}`.execute(db)
  return rows.map((row) => ({
    position: Number(row.link_position),
    sequence: row.link_sequence,
    hash: row.link_hash,
    entry: (row.sequence as string | null) === null ? null : toRecord(row),
  }))
}

/** The place of an entry; undefined when it has none yet. */
export async function findLink(
  db: Kysely<Schema>,
  sequence: string,
): Promise<Pick<ChainLink, 'position' | 'hash'> | undefined> {
  const row = await db
    .selectFrom('audit_link')
    .select(['position', 'hash'])
    .where('entry_sequence', '=', sequence)
    .executeTakeFirst()
  return row === undefined ? undefined : { position: Number(row.position), hash: row.hash }
}

/** The hash of the chain at a place that is in the database. */
export async function findHashAt(
  db: Kysely<Schema>,
  position: number,
): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('audit_link')
    .select('hash')
    .where('position', '=', String(position))
    .executeTakeFirst()
  return row?.hash
}

/** Places of the chain, and a time. */
export interface ChainSpan {
  readonly after: number
  readonly through: number
  readonly since: Date
}

/** The first place of a span whose entry was recorded at the time or later. */
export async function findFirstPositionSince(
  db: Kysely<Schema>,
  { after, through, since }: ChainSpan,
): Promise<number | undefined> {
  const { rows } = await sql<{ position: string | null }>`
    select min(position) as position
    from audit_link join audit_entry on audit_entry.sequence = entry_sequence
    where position > ${after} and position <= ${through} and recorded_at >= ${since}`.execute(db)
  const position = rows[0]?.position ?? null
  return position === null ? undefined : Number(position)
}

/** Makes a place the beginning of the chain and answers how many entries were deleted. */
export async function deleteChainThrough(db: Kysely<Schema>, position: number): Promise<number> {
  const { rows } = await sql<{ deleted: string }>`
    select cut_audit_chain(${position}) as deleted`.execute(db)
  return Number(rows[0]?.deleted ?? 0)
}
