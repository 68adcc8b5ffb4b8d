import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import { SIGNING_FORMS } from './webhook-input.ts'
import type { WebhookRecord, Webhook } from './webhook-store.ts'

const webhookShape = {
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  url: z.string(),
  events: z.array(z.string()),
  enabled: z.boolean(),
  disabled_reason: z
    .enum(['admin', 'failing', 'gone'])
    .nullable()
    .describe(
      'Who switched it off: an admin; the service, because nothing was accepted for days; or the receiver, by answering 410.',
    ),
  disabled_at: timestampSchema.nullable(),
  signing: z.enum(SIGNING_FORMS),
  public_key: z
    .string()
    .nullable()
    .describe('What signatures of the form `ed25519` are verified with; null for the other forms.'),
  old_secrets_end_at: timestampSchema
    .nullable()
    .describe('Until when deliveries are signed with an old secret too; null when there is none.'),
  identifier: z
    .string()
    .describe(
      'Sent with every delivery as `X-Service-Webhook-Identifier` and `X-Kolide-Webhook-Identifier`.',
    ),
  header_names: z.array(z.string()).describe('Headers that were given; values are never answered.'),
  rate_limit_per_second: z.int().nullable(),
  failing_since: timestampSchema
    .nullable()
    .describe('Since when nothing has been accepted; null while all is well.'),
  last_success_at: timestampSchema.nullable(),
  queued_count: z.int().describe('Deliveries that wait to be sent; counted up to 10,000.'),
  dead_count: z.int().describe('Deliveries that were given up; counted up to 10,000.'),
  created_at: timestampSchema,
  updated_at: timestampSchema,
} as const

/** A webhook as the REST API shows it. */
export const webhookSchema = z
  .object(webhookShape)
  .meta({ id: 'Webhook', description: 'An address that is told of events.' })

/** A webhook with its secret, which is shown when it is made. */
export const webhookWithSecretSchema = z
  .object({
    ...webhookShape,
    secret: z
      .string()
      .nullable()
      .describe('What deliveries are verified with; null for `ed25519`, which has a public key.'),
  })
  .meta({ id: 'WebhookWithSecret', description: 'A webhook whose secret was just made.' })

/** The wire form of a webhook; neither secrets nor values of headers are in it. */
export function toWebhookJson(webhook: WebhookRecord) {
  return toWire(webhookSchema, webhook)
}

/** What the audit log keeps of a webhook; never a secret or the value of a header. */
export function toWebhookAudit(webhook: Webhook) {
  return {
    name: webhook.name,
    description: webhook.description,
    url: webhook.url,
    events: webhook.events,
    enabled: webhook.enabled,
    disabled_reason: webhook.disabledReason,
    signing: webhook.signing,
    header_names: webhook.headerNames,
  }
}

/** What audit entries are about. */
export function webhookTarget({ id }: Pick<Webhook, 'id'>) {
  return { type: 'webhook', id }
}
