import type { Generated } from 'kysely'
import type { Id } from './column-types.ts'
import type { DestinationId } from '../branded-ids.ts'

/** These tables by their names. */
export interface WebhookTables {
  webhook: {
    id: Id
    destination_id: DestinationId
    identifier: string
    name: string
    description: string | null
    url: string
    events: string[]
    enabled: Generated<boolean>
    disabled_reason: 'admin' | 'failing' | 'gone' | null
    disabled_at: Date | null
    signing: 'standard' | 'ed25519' | 'hex'
    header_names: Generated<string[]>
    headers_sealed: Buffer | null
    failure_warned_days: Generated<number>
    created_at: Date
    updated_at: Date
  }
  webhook_secret: {
    id: string
    webhook_id: string
    secret_sealed: Buffer
    public_key: string | null
    created_at: Date
    ends_at: Date | null
  }
  webhook_pace: {
    destination_id: DestinationId
    per_second: number
    tokens: number
    filled_at: Date
  }
  webhook_event: {
    id: Id
    event_id: string
    event_type: string
    object_type: string | null
    object_id: string | null
    occurred_at: Date
    body: string | null
    txn: string
    created_at: Date
  }
}
