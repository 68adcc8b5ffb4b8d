import type { Generated } from 'kysely'
import type { BigCount, DefaultBigCount, Id, Json } from './column-types.ts'

/** These tables by their names. */
export interface AuditTables {
  audit_entry: {
    sequence: string
    recorded_at: Date
    actor_type: 'User' | 'ApiKey' | 'System' | 'Person'
    actor_id: string | null
    actor_name: string
    actor_email: string | null
    action: string
    target_type: string | null
    target_id: string | null
    description: string
    before: Json<unknown> | null
    after: Json<unknown> | null
    txn: string
    request_id: string | null
    ip_address: string | null
    /** Of entries that were chained when they were written; those of today have theirs in `audit_link`. */
    previous_hash: Buffer | null
    hash: Buffer | null
  }
  /** The place of an entry in the chain. */
  audit_link: {
    position: BigCount
    entry_sequence: string
    hash: Buffer
  }
  /** What the version before finds descriptions by, which writes it. */
  audit_text_block: {
    block: BigCount
    words: string
  }
  /** What the descriptions of 32 entries say, the upper bits of whose sequences are `block`. */
  audit_description_block: {
    block: BigCount
    texts: string
  }
  /** A stored node of the Merkle tree over the chain. */
  audit_subtree: {
    level: number
    index: BigCount
    hash: Buffer
  }
  /** How far the chain is; one row. */
  audit_chain: {
    id: Generated<number>
    size: DefaultBigCount
    head: Generated<Buffer>
    frontier: Generated<Buffer>
    settled_sequence: DefaultBigCount
    cut_position: DefaultBigCount
    cut_head: Generated<Buffer>
    cut_at: Date | null
  }
  audit_checkpoint_key: {
    id: string
    origin: string
    public_key: Buffer
    private_key_sealed: Buffer
    created_at: Date
    retired_at: Date | null
  }
  audit_checkpoint: {
    id: Id
    origin: string
    size: BigCount
    signed_at: Date
    note: string
  }
}
