import { z } from 'zod'
import type { Change } from '../../../changes/change.ts'
import { changeRoute } from '../../../changes/change-routes.ts'
import type { Foundation } from '../../../changes/foundation.ts'
import { queueDeliveries } from '../../dispatch/delivery-store.ts'
import { AppError } from '../../../platform/app-error.ts'
import { toWire } from '../../../platform/wire/to-wire.ts'
import { recordIdSchema, timestampSchema } from '../../../platform/wire/wire-values.ts'
import { parseId } from '../../../platform/ids.ts'
import type { ApiRoute } from '../../../schema/operations.ts'
import { toVerificationDelivery } from '../../sets/stream-event-delivery.ts'
import { STREAM_ACCESS } from '../../streams/stream-access.ts'
import { getStream, parseStreamReference, type Stream } from '../../streams/stream-store.ts'
import { explainEvent, STOP_RULES, type Explanation, type ImaginedTurn } from './explain-event.ts'

const explainBody = z.strictObject({
  device_id: recordIdSchema.describe('The device whose compliance would change.'),
  to: z.enum(['compliant', 'not-compliant']).describe('What it would change to.'),
  send: z
    .boolean()
    .optional()
    .describe(
      'Also sends a verification event that is marked as a test and names the question: it flows end to end and changes nothing.',
    ),
})

const explanationSchema = z
  .object({
    would_send: z.boolean(),
    outcome: z
      .enum(['sent', 'held', 'delayed', 'stopped'])
      .describe('Held by a paused stream, delayed by damping, or stopped by a rule.'),
    rule: z.enum(STOP_RULES).nullable().describe('The rule that stops the event.'),
    reason: z.string().nullable().describe('The rule in words.'),
    due_at: timestampSchema.nullable(),
    claims: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('The claims of the event, without the `jti` that a real one is given.'),
    test_event_id: z.string().nullable().describe('The `jti` of the test event, if one was sent.'),
  })
  .meta({ id: 'EventExplanation', description: 'What a stream would get, or why nothing.' })

/** The dry run of an event. */
export function explainRoutes({
  runChange,
  sealer,
}: Pick<Foundation, 'runChange' | 'sealer'>): ApiRoute[] {
  return [
    changeRoute(runChange, {
      ...STREAM_ACCESS,
      method: 'POST',
      path: '/ssf_streams/:id/explain',
      summary: 'Explain what a stream would get',
      description:
        'Whether the stream would get an event if the compliance of a device changed now, with its exact claims, or which rule stops it. Nothing is queued but the test event that `send` asks for.',
      body: explainBody,
      example: { body: { device_id: '17', to: 'not-compliant' } },
      responses: { 200: explanationSchema },
      handler: async ({ change, params, body }) => {
        const { device_id: deviceId, to, send = false } = body
        const stream = await getStream(change.tx, parseStreamReference(params.id))
        const turn = { deviceId: parseId(deviceId, 'device'), to }
        const explanation = await explainEvent(change, stream, turn, sealer)
        const testEventId = send ? await sendTestEvent(change, stream, turn) : null
        return toJson(explanation, testEventId)
      },
    }),
  ]
}

async function sendTestEvent(
  change: Change,
  stream: Stream,
  { deviceId, to }: ImaginedTurn,
): Promise<string> {
  if (stream.status === 'disabled') {
    throw new AppError('conflict', 'The stream is disabled; enable it to send a test.')
  }
  const test = { kind: 'explain', device_id: deviceId, to }
  const delivery = toVerificationDelivery(stream, change, { test })
  const { eventId } = delivery
  await queueDeliveries(change, [delivery])
  change.recordAudit({
    action: 'ssf_stream.tested',
    target: { type: 'ssf_stream', id: stream.id },
    description: `sent a test event to the stream ${stream.name}`,
    after: { event_id: eventId, device_id: deviceId, to },
  })
  return eventId
}

function toJson(explanation: Explanation, testEventId: string | null) {
  const nothing = { rule: null, reason: null, dueAt: null, claims: null }
  const shown = { ...nothing, ...explanation, testEventId }
  return toWire(explanationSchema, shown, { would_send: shown.outcome !== 'stopped' })
}
