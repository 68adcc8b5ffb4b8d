import type { Generated } from 'kysely'
import type { Id, Json } from './column-types.ts'
import type { DestinationId } from '../branded-ids.ts'

/** Milliseconds that an attempt spent in each phase; absent phases were not reached or not needed. */
export interface AttemptTimings {
  dns?: number
  connect?: number
  tls?: number
  first_byte?: number
  total: number
}

/** What a delivery keeps of the attempt that was accepted. */
export interface AcceptedAttempt {
  id: number
  number: number
  started_at: string
  timings: AttemptTimings
  status_code?: number
  response_body?: string
  remote_address?: string
}

/** These tables by their names. */
export interface DeliveryTables {
  delivery_destination: {
    id: Generated<DestinationId>
    kind: 'ssf_push' | 'ssf_poll' | 'webhook'
    state: 'active' | 'held' | 'stopped' | 'deleted'
    retry_not_before: Date | null
    consecutive_failures: Generated<number>
    failing_since: Date | null
    last_success_at: Date | null
    last_failure_at: Date | null
    last_failure: string | null
    keeps_exhausted: Generated<boolean>
    /** No delivery that waits has a lower id; the database lowers it where one does. */
    queued_from_id: Generated<string>
  }
  delivery_worker: {
    id: number
    started_at: Date
    missing_since: Date | null
  }
  /** One row: the latest time that a worker has read from the clock of the database. */
  database_clock: {
    is_single: Generated<boolean>
    seen_at: Date
  }
  delivery: {
    id: Id
    destination_id: DestinationId
    event_id: string
    event_type: string
    subject_key: string | null
    body: string
    signing_kid: string | null
    /** The whole token, as former versions stored it, or one whose payload is not the body. */
    token: string | null
    state: 'queued' | 'delivered' | 'dead' | 'discarded'
    attempt_count: Generated<number>
    next_attempt_at: Date
    claimed_by: string | null
    claim_expires_at: Date | null
    last_error: string | null
    txn: string
    created_at: Date
    finished_at: Date | null
    outlives_stop: Generated<boolean>
    /** The number of the SET in its stream. */
    sequence: Generated<string | null>
    /** The attempt that was accepted, as members of a row of `delivery_attempt`. */
    accepted_attempt: Json<AcceptedAttempt> | null
    /** The token without its payload, which is the body. */
    detached_token: string | null
  }
  delivery_attempt: {
    id: Id
    delivery_id: string
    number: number
    started_at: Date
    timings: Json<AttemptTimings>
    outcome: 'accepted' | 'rejected' | 'retry'
    status_code: number | null
    error_code: string | null
    error: string | null
    request_headers: Json<Record<string, string> | null> | null
    response_headers: Json<Record<string, string> | null> | null
    response_body: string | null
    remote_address: string | null
    next_attempt_at: Date | null
  }
}
