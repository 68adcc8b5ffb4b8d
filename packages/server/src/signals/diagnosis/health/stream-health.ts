/*
 * The health document of a stream: whether its receiver gets its events, how fast, and under which key.
 * For operators and for the receiver itself; holds no addresses and no secrets.
 */
import type { Kysely } from 'kysely'
import { z } from 'zod'
import { toWire } from '../../../platform/wire/to-wire.ts'
import { isCircuitOpen } from '../../dispatch/circuit-breaker.ts'
import type { Schema } from '../../../schema/schema.ts'
import { timestampSchema, toTimestamp } from '../../../platform/wire/wire-values.ts'
import { signingKeyStateSchema } from '../../signing/signing-key-json.ts'
import { listProofsOfStream } from '../../signing/signing-key-read.ts'
import type { Stream } from '../../streams/stream-store.ts'
import { readDestinationHealth } from './stream-health-read.ts'

const countSchema = {
  count: z.int().describe('At most 10,000 are counted.'),
  exact: z.boolean().describe('False when there are more than were counted.'),
}

const timesSchema = z
  .object({
    ...countSchema,
    p50_ms: z.int().nullable(),
    p99_ms: z.int().nullable(),
  })
  .meta({
    id: 'DeliveryTimes',
    description:
      'Deliveries of a time, and how long they took from the change to the recorded success; of the latest 10,000.',
  })

const queueSchema = z.object({
  ...countSchema,
  oldest_queued_at: timestampSchema.nullable(),
  oldest_age_seconds: z.int().nullable(),
  next_attempt_at: timestampSchema.nullable(),
})

const keySchema = z.object({
  kid: z.string(),
  state: signingKeyStateSchema,
  in_use: z.boolean(),
  rolled_back: z.boolean(),
  first_accepted_at: timestampSchema.nullable(),
  last_accepted_at: timestampSchema.nullable(),
  last_refused_at: timestampSchema.nullable(),
  refusal: z.string().nullable(),
  jwks_fetched_at: timestampSchema.nullable(),
})

/** The health document of a stream. */
export const streamHealthSchema = z
  .object({
    stream_id: z.string(),
    checked_at: timestampSchema,
    status: z.enum(['enabled', 'paused', 'disabled']),
    status_reason: z.string().nullable(),
    state: z
      .enum(['healthy', 'failing', 'stopped'])
      .describe('Stopped when the stream is not enabled; failing while attempts fail in a row.'),
    circuit: z
      .enum(['closed', 'open'])
      .describe('Open while the receiver is probed now and then instead of being sent everything.'),
    next_probe_at: timestampSchema.nullable(),
    failing_since: timestampSchema.nullable(),
    last_success_at: timestampSchema.nullable(),
    last_failure_at: timestampSchema.nullable(),
    last_failure: z.string().nullable().describe('What went wrong last, in words.'),
    queue: queueSchema,
    dead_letters: z.object(countSchema),
    events_last_hour: z.int(),
    last_hour: timesSchema,
    last_day: timesSchema,
    heartbeat_minutes: z.int().nullable(),
    next_heartbeat_at: timestampSchema.nullable(),
    signing_keys: z
      .array(keySchema)
      .describe('What the receiver has made of each key that is published, newest first.'),
  })
  .meta({ id: 'StreamHealth', description: 'Whether the receiver of a stream gets its events.' })

/** The health of a stream at this moment. Reads only. */
export async function toStreamHealth(
  db: Kysely<Schema>,
  stream: Stream,
  now: Date,
): Promise<z.input<typeof streamHealthSchema>> {
  const { queue, receiver, deadLetters, ...times } = await readDestinationHealth(
    db,
    stream.destinationId,
    now,
  )
  const proofs = await listProofsOfStream(db, stream, now)
  const isOpen = isCircuitOpen(receiver)
  return toWire(
    streamHealthSchema,
    { ...receiver, ...stream },
    {
      checked_at: toTimestamp(now),
      state: toState(stream, receiver.consecutiveFailures),
      circuit: isOpen ? 'open' : 'closed',
      next_probe_at: isOpen ? toTimestamp(receiver.retryNotBefore) : null,
      queue: toWire(queueSchema, queue, {
        exact: queue.isExact,
        oldest_age_seconds: toAgeSeconds(queue.oldestQueuedAt, now),
      }),
      dead_letters: { count: deadLetters.count, exact: deadLetters.isExact },
      events_last_hour: times.lastHour.count,
      last_hour: toWire(timesSchema, times.lastHour, { exact: times.lastHour.isExact }),
      last_day: toWire(timesSchema, times.lastDay, { exact: times.lastDay.isExact }),
      next_heartbeat_at: toTimestamp(stream.heartbeatDueAt),
      signing_keys: proofs.map(({ key, state, proof }) =>
        toWire(keySchema, {
          ...proof,
          inUse: proof.isInUse,
          rolledBack: proof.isRolledBack,
          kid: key.kid,
          state,
        }),
      ),
    },
  )
}

function toState(stream: Stream, consecutiveFailures: number) {
  if (stream.status !== 'enabled') return 'stopped' as const
  return consecutiveFailures === 0 ? ('healthy' as const) : ('failing' as const)
}

function toAgeSeconds(time: Date | null, now: Date): number | null {
  return time === null ? null : Math.max(0, Math.floor((now.getTime() - time.getTime()) / 1_000))
}
