// Stream configurations as a receiver reads them from the transmitters of the field; what a
// transmitter may be sent is in './stream-configuration.ts'.
import { z } from 'zod'
import { DELIVERY_METHOD_POLL, DELIVERY_METHOD_PUSH } from './delivery-method.ts'
import type { StreamExtensionMembers } from './extensions/stream-sequence.ts'
import { issuesWithin, parseWithSchema, type ParseResult } from './parse-result.ts'
import type { StreamConfiguration } from './stream-configuration.ts'

/** A stream configuration with the members that this package knows beyond SSF 1.0. */
export type ReceivedStream = StreamConfiguration & StreamExtensionMembers

/** Delivery methods under the names that transmitters used before the RFCs, to their own. */
const EARLIER_METHODS: Readonly<Record<string, string>> = {
  'https://schemas.openid.net/secevent/risc/delivery-method/push': DELIVERY_METHOD_PUSH,
  'https://schemas.openid.net/secevent/risc/delivery-method/poll': DELIVERY_METHOD_POLL,
}

const deliverySchema = z.preprocess(
  readDelivery,
  z.discriminatedUnion('method', [
    z.looseObject({
      method: z.literal(DELIVERY_METHOD_PUSH),
      endpoint_url: z.string(),
      authorization_header: z.string().exactOptional(),
    }),
    z.looseObject({ method: z.literal(DELIVERY_METHOD_POLL), endpoint_url: z.string() }),
  ]),
)

const receivedStreamSchema = z.preprocess(
  withoutNullMembers,
  z.looseObject({
    stream_id: z.string().min(1),
    iss: z.string().min(1),
    aud: z.union([z.string(), z.array(z.string())]),
    events_supported: z.array(z.string()).exactOptional(),
    events_requested: z.array(z.string()).exactOptional(),
    events_delivered: z.array(z.string()).default([]),
    delivery: deliverySchema,
    min_verification_interval: z.number().exactOptional(),
    inactivity_timeout: z.number().exactOptional(),
    description: z.string().exactOptional(),
    heliograph_sequence: z.boolean().exactOptional(),
  }),
)

/**
 * Parses a transmitter's answer to a stream request. Unknown members are kept, null ones count as
 * absent, a missing `events_delivered` is read as empty; `delivery` may be JSON in a string, and
 * its method one of the names before the RFCs. SSF 1.0 section 8.1.1.
 */
export function parseStreamConfiguration(body: unknown): ParseResult<ReceivedStream> {
  return parseWithSchema<ReceivedStream>(receivedStreamSchema, single(body))
}

/**
 * Parses a transmitter's list of streams: the array that SSF 1.0 section 8.1.1.2 asks for, an object
 * that holds it in `streams` or `data`, or a single stream.
 */
export function parseStreamConfigurationList(
  body: unknown,
): ParseResult<readonly ReceivedStream[]> {
  const entries = listed(body)
  const streams: ReceivedStream[] = []
  for (const [index, entry] of entries.entries()) {
    const parsed = parseWithSchema<ReceivedStream>(receivedStreamSchema, entry)
    if (!parsed.ok) return { ok: false, issues: issuesWithin(String(index), parsed.issues) }
    streams.push(parsed.value)
  }
  return { ok: true, value: streams }
}

function listed(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body
  if (isObject(body) && !('stream_id' in body)) {
    const inner = body['streams'] ?? body['data']
    if (Array.isArray(inner)) return inner
  }
  return [body]
}

/** Some transmitters answer a request for one stream with a list of one. */
function single(body: unknown): unknown {
  const entries = listed(body)
  return entries.length === 1 ? entries[0] : body
}

function readDelivery(value: unknown): unknown {
  const delivery = withoutNullMembers(typeof value === 'string' ? parseJson(value) : value)
  if (!isObject(delivery) || typeof delivery['method'] !== 'string') return delivery
  return { ...delivery, method: EARLIER_METHODS[delivery['method']] ?? delivery['method'] }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function withoutNullMembers(value: unknown): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
