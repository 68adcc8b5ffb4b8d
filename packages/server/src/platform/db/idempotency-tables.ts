/** The tables that the records of idempotent requests need. */
export interface IdempotencyTables {
  /** A request under an idempotency key, and its answer once that is known. */
  idempotency_record: {
    scope_hash: Buffer
    fingerprint: Buffer
    request_id: string
    status: number | null
    answer_sealed: Buffer | null
    created_at: Date
    expires_at: Date
  }
}
