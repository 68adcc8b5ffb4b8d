/*
 * Above which ids the dispatchers of a process need not look for deliveries: nothing has come so far. Looked at in
 * every sweep; what comes above before that is found by the next one.
 */
import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { findDeliveryEnd } from './delivery-range-store.ts'

export class DeliveryEnd {
  readonly #db: Kysely<Schema>
  #id: bigint | null = null

  constructor(db: Kysely<Schema>) {
    this.#db = db
  }

  /** Null before the first look. */
  get id(): bigint | null {
    return this.#id
  }

  async follow(): Promise<void> {
    this.#id = await findDeliveryEnd(this.#db)
  }
}
