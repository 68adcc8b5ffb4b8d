import { z } from 'zod'
import type { Foundation } from '../../changes/foundation.ts'
import { route, type ApiRoute } from '../../schema/operations.ts'
import { checkWebhookSignature, SIGNATURE_CHECKS } from './check-webhook-signature.ts'
import { WEBHOOK_ACCESS } from './webhook-routes.ts'
import { findWebhookSending, getWebhook } from './webhook-store.ts'
import { toWebhookTarget } from './webhook-target.ts'

const HEADERS_MAX = 100
const HEADER_LENGTH_MAX = 8_192
const BODY_LENGTH_MAX = 262_144

const receivedBody = z
  .strictObject({
    headers: z
      .record(z.string().max(HEADER_LENGTH_MAX), z.string().max(HEADER_LENGTH_MAX))
      .refine(
        (headers) => Object.keys(headers).length <= HEADERS_MAX,
        'Must be at most 100 headers',
      )
      .describe('The headers of the request as it was received; names in any case.'),
    body: z
      .string()
      .max(BODY_LENGTH_MAX)
      .describe('The raw body, byte for byte: what is parsed and written again is another one.'),
  })
  .meta({ id: 'CheckWebhookSignature' })

const checkedSchema = z
  .object({
    valid: z.boolean().describe('No check has failed.'),
    checks: z.array(
      z.object({
        check: z.enum(SIGNATURE_CHECKS),
        result: z.enum(['passed', 'failed', 'warning', 'skipped']),
        message: z.string().describe('In words.'),
      }),
    ),
  })
  .meta({ id: 'CheckedWebhookSignature' })

export type WebhookSignatureDependencies = Pick<Foundation, 'clock' | 'db' | 'sealer'>

/** Tells whoever integrates a receiver why a signature does not fit. The secret is not shown. */
export function webhookSignatureRoutes({
  clock,
  db,
  sealer,
}: WebhookSignatureDependencies): ApiRoute[] {
  return [
    route({
      ...WEBHOOK_ACCESS,
      method: 'POST',
      path: '/webhooks/:id/check_signature',
      summary: 'Check the signature of a request that a webhook was sent',
      description:
        'Makes the checks of a receiver one after another, with the secrets that are in use, and says which fails and why. Changes nothing.',
      body: receivedBody,
      responses: { 200: checkedSchema },
      example: {
        body: {
          headers: {
            'webhook-id': '01ARZ3NDEKTSV4RRFFQ69G5FAV',
            'webhook-timestamp': '1767322983',
            'webhook-signature': 'v1,bm8gc2lnbmF0dXJl',
          },
          body: '{}',
        },
      },
      handler: async ({ params, body: received }) => {
        const webhook = await getWebhook(db, params.id)
        const now = clock.now()
        const id = findId(received.headers)
        const ids = id === undefined ? [] : [id]
        const sending = await findWebhookSending(db, webhook.destinationId, ids, now)
        const { signers = [], isHex = false } = sending ? toWebhookTarget(sending, sealer) : {}
        const checks = checkWebhookSignature(
          received,
          { signers, isHex, sentBody: sending?.bodies.get(id ?? '') },
          now,
        )
        return { valid: checks.every(({ result }) => result !== 'failed'), checks: [...checks] }
      },
    }),
  ]
}

/** Ids of events are ULIDs. */
function findId(headers: Readonly<Record<string, string>>): string | undefined {
  const [, id = ''] =
    Object.entries(headers).find(([name]) => name.trim().toLowerCase() === 'webhook-id') ?? []
  return /^[0-9A-Z]{26}$/.test(id.trim()) ? id.trim() : undefined
}
