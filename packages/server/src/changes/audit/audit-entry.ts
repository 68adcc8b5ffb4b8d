/*
 * What an audit entry is and how it is hashed. Entries are written by audit-store.ts in the transaction of change.ts,
 * and chained after its commit by what is in chain/.
 */
import { createHash } from 'node:crypto'
import { toCanonicalJson } from '../../platform/canonical-json.ts'

/** Who caused a change. `System` is the service itself: its schedulers and device reports. */
export interface Actor {
  readonly type: 'User' | 'ApiKey' | 'System' | 'Person'
  readonly id: string | null
  readonly name: string
  /** Only people and admins have one. */
  readonly email: string | null
}

/** The service itself as an actor. */
export const SYSTEM_ACTOR: Actor = { type: 'System', id: null, name: 'Heliograph', email: null }

/** What an audit entry is about. */
export interface AuditTarget {
  readonly type: string
  readonly id: string
}

/** Of the entry that tells of a cut; its `after.position` is where the chain begins then. */
export const CUT_ACTION = 'audit_log.cut'

/** What a use case says of its change; actor, time and cause are added by the change it belongs to. */
export interface AuditNote {
  /** Dotted, past tense: `api_key.created`. */
  readonly action: string
  readonly target: AuditTarget | null
  /** One sentence for people, without the actor. */
  readonly description: string
  /** Secret values never appear here. */
  readonly before?: JsonObject
  readonly after?: JsonObject
}

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}

/** The columns of an entry that are hashed, all but its place in the chain. */
export interface AuditFields {
  readonly recorded_at: string
  readonly actor_type: string
  readonly actor_id: string | null
  readonly actor_name: string
  readonly actor_email: string | null
  readonly action: string
  readonly target_type: string | null
  readonly target_id: string | null
  readonly description: string
  readonly before: JsonObject | null
  readonly after: JsonObject | null
  readonly txn: string
  readonly request_id: string | null
  readonly ip_address: string | null
}

/** The hash before the first entry. */
export const CHAIN_START: Buffer = Buffer.alloc(32)

/**
 * The text of an entry that is hashed: JSON with sorted names and without white space, so that it
 * can be rebuilt from the stored columns.
 */
export function toCanonicalText(fields: AuditFields): string {
  return toCanonicalJson(fields)
}

/** The place of an entry in the chain, counted from 1, and the number that names it. */
export interface ChainPlace {
  readonly position: number
  readonly sequence: string
}

/**
 * SHA-256 over the previous hash, the place and the canonical text. The place is the position; where the
 * entry has another number than its position, as those have that were chained after their commit, that
 * follows behind a colon.
 */
export function hashEntry(
  previousHash: Buffer,
  { position, sequence }: ChainPlace,
  canonicalText: string,
): Buffer {
  const place = sequence === String(position) ? sequence : `${position}:${sequence}`
  return createHash('sha256').update(previousHash).update(`${place}\n${canonicalText}`).digest()
}
