import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import {
  DELIVERY_STATES,
  deviceIdOf,
  type AttemptRecord,
  type DeliveryDetails,
  type DeliveryRecord,
} from './delivery-read.ts'
import { explainFailure } from './explain-failure.ts'

const durationSchema = z.number().nullable()

const deliveryShape = {
  id: z.string(),
  event_id: z.string().describe('The `jti` of a SET, the id of a webhook message.'),
  event_type: z.string(),
  state: z
    .enum(DELIVERY_STATES)
    .describe(
      '`queued` waits or is tried again, `dead` failed for good and can be sent again, `discarded` was given up.',
    ),
  device_id: z.string().nullable(),
  txn: z.string().describe('The cause, shared by the events and audit entries that it had.'),
  attempts: z.int().describe('Attempts since it was queued or sent again.'),
  next_attempt_at: timestampSchema.nullable().describe('Null when there is none.'),
  last_error: z.string().nullable(),
  created_at: timestampSchema,
  finished_at: timestampSchema.nullable(),
} as const

/** A delivery as lists show it. */
export const deliverySchema = z
  .object(deliveryShape)
  .meta({ id: 'Delivery', description: 'An event and what became of it.' })

const attemptSchema = z
  .object({
    number: z.int(),
    started_at: timestampSchema,
    duration: z
      .object({
        dns_ms: durationSchema,
        connect_ms: durationSchema,
        tls_ms: durationSchema,
        first_byte_ms: durationSchema,
        total_ms: z.number(),
      })
      .describe('Milliseconds by phase; null for phases that were not reached or not needed.'),
    outcome: z
      .enum(['accepted', 'rejected', 'retry'])
      .describe('`retry` may succeed another time, `rejected` is final.'),
    status_code: z.int().nullable(),
    remote_address: z.string().nullable(),
    error_code: z.string().nullable(),
    error: z.string().nullable().describe('What went wrong, in words.'),
    explanation: z
      .object({
        cause: z.string().describe('Why it failed.'),
        remedy: z.string().describe('What helps.'),
      })
      .nullable()
      .describe('Null for accepted attempts.'),
    waited_ms: z
      .number()
      .nullable()
      .describe(
        'Milliseconds from when it was due, by the attempt before or by its creation, until it was begun. Null where that is not known.',
      ),
    request_headers: z
      .record(z.string(), z.string())
      .nullable()
      .describe('Values that may be secret are masked. Null for accepted attempts.'),
    response_headers: z.record(z.string(), z.string()).nullable(),
    response_body: z.string().nullable().describe('At most the first 16 KiB.'),
    next_attempt_at: timestampSchema.nullable(),
  })
  .meta({ id: 'DeliveryAttempt', description: 'One attempt to deliver an event.' })

/** A delivery with its attempts and what is sent. */
export const deliveryDetailsSchema = z
  .object({
    ...deliveryShape,
    content: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('What is sent: the claims of a SET without its signature. Null once deleted.'),
    signing_kid: z.string().nullable(),
    token: z
      .string()
      .nullable()
      .describe(
        'The SET as it was signed; null of webhooks, before it is signed, and once deleted.',
      ),
    attempt_log: z.array(attemptSchema).describe('In their order; of very many the latest.'),
  })
  .meta({ id: 'DeliveryDetails', description: 'An event, its attempts and what is sent.' })

/** The wire form of a delivery in a list. */
export function toDeliveryJson(delivery: DeliveryRecord) {
  const isQueued = delivery.state === 'queued'
  return toWire(deliverySchema, delivery, {
    device_id: deviceIdOf(delivery),
    attempts: delivery.attemptCount,
    next_attempt_at: isQueued ? toTimestamp(delivery.nextAttemptAt) : null,
  })
}

/** What a delivery carries: the JSON object in the text that is stored of it; null without one. */
export function parseContent(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}

/** The wire form of a delivery with its attempts. */
export function toDeliveryDetailsJson(
  delivery: DeliveryDetails,
  content: Record<string, unknown> | null,
  log: { readonly attempts: readonly AttemptRecord[]; readonly earlierCount: number },
): z.input<typeof deliveryDetailsSchema> {
  return {
    ...toDeliveryJson(delivery),
    content,
    signing_kid: delivery.signingKid,
    token: delivery.token,
    attempt_log: log.attempts.map((attempt, index) =>
      toAttemptJson(attempt, {
        number: log.earlierCount + index + 1,
        dueAt: dueBefore(delivery, log, index),
      }),
    ),
  }
}

/** When an attempt was due; null where the attempt before it is not shown, or had no successor planned. */
function dueBefore(
  { createdAt }: DeliveryDetails,
  { attempts, earlierCount }: { attempts: readonly AttemptRecord[]; earlierCount: number },
  index: number,
): Date | null {
  if (index > 0) return attempts[index - 1]?.nextAttemptAt ?? null
  return earlierCount === 0 ? createdAt : null
}

function toAttemptJson(
  attempt: AttemptRecord,
  { number, dueAt }: { readonly number: number; readonly dueAt: Date | null },
) {
  const { dns, connect, tls, first_byte, total } = attempt.timings
  return toWire(attemptSchema, attempt, {
    number,
    explanation:
      explainFailure({
        errorCode: attempt.errorCode,
        statusCode: attempt.statusCode,
      }) ?? null,
    // Sent again by an admin, it was begun before the time that had been planned.
    waited_ms: dueAt === null ? null : Math.max(0, attempt.startedAt.getTime() - dueAt.getTime()),
    duration: {
      dns_ms: dns ?? null,
      connect_ms: connect ?? null,
      tls_ms: tls ?? null,
      first_byte_ms: first_byte ?? null,
      total_ms: total,
    },
  })
}
