import {
  DELIVERY_METHOD_POLL,
  DELIVERY_METHOD_PUSH,
  DELIVERY_METHODS,
  DEVICE_COMPLIANCE_CHANGE,
  SESSION_REVOKED,
  VERIFICATION,
} from '@heliograph/ssf'
import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import {
  authenticationJsonShape,
  toAuthenticationAudit,
  toAuthenticationJson,
} from '../push/push-authentication.ts'
import { pollUrlOf } from '../push/poll-fallback.ts'
import { choiceJsonShape, toChoicesJson } from './stream-choices.ts'
import type { Stream } from './stream-store.ts'

/** The event types that every stream can ask for. */
export const EVENTS_SUPPORTED: readonly string[] = [DEVICE_COMPLIANCE_CHANGE]

/** The event types that receivers find in the metadata of the standard issuer. */
export const STANDARD_EVENTS_SUPPORTED: readonly string[] = [
  DEVICE_COMPLIANCE_CHANGE,
  SESSION_REVOKED,
]

/** What a stream is offered, and what it gets of it: revoked sessions are only shown where they were asked for. */
export function toStreamEvents({ eventsRequested }: Pick<Stream, 'eventsRequested'>) {
  const isSessionAsked = eventsRequested.includes(SESSION_REVOKED)
  const supported = isSessionAsked ? STANDARD_EVENTS_SUPPORTED : EVENTS_SUPPORTED
  return {
    events_supported: [...supported],
    events_delivered: supported.filter((type) => eventsRequested.includes(type)),
  }
}

const eventTypes = z.array(z.string())

/** A stream as the REST API shows it. */
export const streamSchema = z
  .object({
    id: z.string(),
    iss: z.string().describe('The issuer of its events.'),
    stream_id: z.string().meta({ format: 'uuid' }),
    name: z.string(),
    description: z.string().nullable(),
    aud: z.string().describe('The audience of its events: the receiver.'),
    delivery_type: z.enum(['push', 'poll']),
    enabled: z.boolean(),
    status: z
      .enum(['enabled', 'paused', 'disabled'])
      .describe('A paused stream holds its events, a disabled one gets none.'),
    status_reason: z.string().nullable(),
    events_supported: eventTypes,
    events_requested: eventTypes,
    events_delivered: eventTypes,
    delivery: z.object({
      method: z.enum(DELIVERY_METHODS),
      endpoint_url: z.string(),
      ...authenticationJsonShape,
    }),
    authorization_header_set: z
      .boolean()
      .describe('Whether an Authorization header is stored; its value is never answered.'),
    fallback_to_poll: z
      .boolean()
      .describe('Whether events that cannot be pushed can be polled meanwhile.'),
    fallback: z
      .object({ since: timestampSchema, reason: z.string(), endpoint_url: z.string() })
      .nullable()
      .describe('While events that cannot be pushed wait to be polled: why, and where.'),
    ...choiceJsonShape,
    default_subjects: z
      .enum(['ALL', 'NONE'])
      .describe('Whom it tells of about whom nothing was said: everybody or nobody.'),
    heartbeat_minutes: z
      .int()
      .nullable()
      .describe('How often the receiver gets an unsolicited verification event; null: never.'),
    created_at: timestampSchema,
    updated_at: timestampSchema,
  })
  .meta({ id: 'Stream', description: 'A receiver of device compliance events.' })

/** The status of a stream, as it is set and shown. SSF 1.0 section 8.1.2. */
export const streamStatusSchema = z
  .object({
    stream_id: z.string(),
    status: z.enum(['enabled', 'paused', 'disabled']),
    reason: z.string().optional(),
  })
  .meta({ id: 'StreamStatus' })

/** Where a receiver polls a stream. */
export function pollUrl(baseUrl: string, streamId: string): string {
  return `${baseUrl}/ssf_streams/${streamId}/events`
}

/** The wire form of a stream. The authorization header is not in it. */
export function toStreamJson(stream: Stream, baseUrl: string) {
  const isPush = stream.deliveryMethod === 'push'
  return toWire(streamSchema, stream, {
    iss: stream.issuer,
    aud: stream.audience,
    delivery_type: stream.deliveryMethod,
    enabled: stream.status === 'enabled',
    ...toStreamEvents(stream),
    events_requested: [...new Set([...stream.eventsRequested, VERIFICATION])],
    delivery: {
      method: isPush ? DELIVERY_METHOD_PUSH : DELIVERY_METHOD_POLL,
      endpoint_url: stream.endpointUrl ?? pollUrl(baseUrl, stream.streamId),
      ...toAuthenticationJson(stream.pushAuthentication),
    },
    authorization_header_set: stream.authorizationHeaderSealed !== null,
    fallback: toFallbackJson(stream, baseUrl),
    ...toChoicesJson(stream),
  })
}

/** The status of a stream on the wire. */
export function toStreamStatusJson(stream: Stream) {
  return toWire(streamStatusSchema, stream, { reason: stream.statusReason ?? undefined })
}

function toFallbackJson(stream: Stream, baseUrl: string) {
  const { fallbackSince: since, fallbackReason: reason } = stream
  if (since === null) return null
  return {
    since: toTimestamp(since),
    reason: reason ?? '',
    endpoint_url: pollUrlOf(stream, baseUrl),
  }
}

/** What the audit log keeps of a stream; never the value of its authorization header. */
export function toStreamAudit(stream: Stream) {
  return {
    stream_id: stream.streamId,
    name: stream.name,
    description: stream.description,
    aud: stream.audience,
    delivery_type: stream.deliveryMethod,
    endpoint_url: stream.endpointUrl,
    authorization_header_set: stream.authorizationHeaderSealed !== null,
    authentication: toAuthenticationAudit(stream.pushAuthentication),
    events_requested: stream.eventsRequested,
    fallback_to_poll: stream.fallbackToPoll,
    ...toChoicesJson(stream),
    heartbeat_minutes: stream.heartbeatMinutes,
    status: stream.status,
    status_reason: stream.statusReason,
  }
}
