// The stream configuration on the wire (SSF 1.0 section 8.1.1): what a transmitter answers, what a
// receiver may send. Which streams exist, and who may see them, is not decided here.
import { z } from 'zod'
import { isDeepEqual } from './deep-equal.ts'
import { DELIVERY_METHOD_POLL, DELIVERY_METHOD_PUSH, DELIVERY_METHODS } from './delivery-method.ts'
import { describeFault } from './describe-fault.ts'
import { parseWithSchema, type ParseResult } from './parse-result.ts'

const URL_LENGTH_MAX = 2048
const EVENT_TYPES_MAX = 100
const DESCRIPTION_LENGTH_MAX = 2048

/** A header value: visible ASCII and spaces, so that it can never break out of its header line. */
const authorizationHeaderSchema = z
  .string()
  .min(1)
  .max(8192)
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII')

const urlSchema = z
  .string()
  .max(URL_LENGTH_MAX)
  .regex(/^https?:\/\/[^\s/?#]+\S*$/i, 'must be an HTTP URL')

const eventTypesSchema = z.array(z.string().min(1).max(URL_LENGTH_MAX)).max(EVENT_TYPES_MAX)

const emptyAsAbsent = z.preprocess(
  (value) => (value === '' || value === null ? undefined : value),
  urlSchema.optional(),
)

const pushDeliverySchema = z
  .object({
    method: z.literal(DELIVERY_METHOD_PUSH),
    endpoint_url: urlSchema,
    authorization_header: authorizationHeaderSchema.nullish(),
  })
  .transform(({ method, endpoint_url, authorization_header }): PushDeliveryConfiguration => ({
    method,
    endpoint_url,
    ...(typeof authorization_header === 'string' ? { authorization_header } : {}),
  }))

const pollDeliverySchema = z
  .object({ method: z.literal(DELIVERY_METHOD_POLL), endpoint_url: emptyAsAbsent })
  .transform(({ method, endpoint_url }): PollDeliveryRequest =>
    endpoint_url === undefined ? { method } : { method, endpoint_url },
  )

const deliveryRequestSchema = z.unknown().transform((value, context): DeliveryRequest => {
  const method = methodOf(value)
  const schema = method === DELIVERY_METHOD_PUSH ? pushDeliverySchema : pollDeliverySchema
  if (method !== DELIVERY_METHOD_PUSH && method !== DELIVERY_METHOD_POLL) {
    context.addIssue({
      code: 'custom',
      path: ['method'],
      message: `must be one of ${DELIVERY_METHODS.join(', ')}`,
    })
    return z.NEVER
  }
  const parsed = schema.safeParse(value, { error: describeFault })
  if (parsed.success) return parsed.data
  for (const { path, message } of parsed.error.issues) {
    context.addIssue({ code: 'custom', path, message })
  }
  return z.NEVER
})

/** How a push stream is delivered. SSF 1.0 section 6.1.1. */
export interface PushDeliveryConfiguration {
  readonly method: typeof DELIVERY_METHOD_PUSH
  /** The receiver's URL. */
  readonly endpoint_url: string
  /** Sent as it is in the Authorization header of every push. */
  readonly authorization_header?: string
}

/** What a receiver may say about poll delivery; the transmitter assigns the URL it answers with. */
export interface PollDeliveryRequest {
  readonly method: typeof DELIVERY_METHOD_POLL
  readonly endpoint_url?: string
}

/** How a poll stream is delivered; the URL is the transmitter's. SSF 1.0 section 6.1.2. */
export interface PollDeliveryConfiguration {
  readonly method: typeof DELIVERY_METHOD_POLL
  readonly endpoint_url: string
}

/** The `delivery` member of a request. */
export type DeliveryRequest = PushDeliveryConfiguration | PollDeliveryRequest

/** The members that the receiver supplies. SSF 1.0 section 8.1.1. */
export interface ReceiverSuppliedMembers {
  readonly events_requested?: readonly string[]
  readonly delivery?: DeliveryRequest
  readonly description?: string
}

/** A change of what the receiver supplies: a description of null removes it. */
export interface ReceiverSuppliedChanges extends Omit<ReceiverSuppliedMembers, 'description'> {
  readonly description?: string | null
}

/** The members that the transmitter supplies. SSF 1.0 section 8.1.1. */
export interface TransmitterSuppliedMembers {
  readonly stream_id: string
  readonly iss: string
  readonly aud: string | readonly string[]
  readonly events_supported?: readonly string[]
  readonly events_delivered: readonly string[]
  /** In seconds. */
  readonly min_verification_interval?: number
  /** In seconds. */
  readonly inactivity_timeout?: number
}

/** A complete stream configuration as a transmitter answers it. SSF 1.0 section 8.1.1. */
export interface StreamConfiguration extends TransmitterSuppliedMembers {
  readonly events_requested?: readonly string[]
  readonly delivery: PushDeliveryConfiguration | PollDeliveryConfiguration
  readonly description?: string
}

const receiverSuppliedShape = {
  events_requested: eventTypesSchema.nullish(),
  delivery: deliveryRequestSchema.optional(),
  description: z.string().max(DESCRIPTION_LENGTH_MAX).nullish(),
} as const

const createSchema = z
  .object(receiverSuppliedShape)
  .transform(({ description, ...others }): ReceiverSuppliedMembers => {
    const supplied = withoutAbsentMembers(others)
    return typeof description === 'string' ? { ...supplied, description } : supplied
  })

const updateSchema = z
  .looseObject({ stream_id: z.string().min(1).max(256), ...receiverSuppliedShape })
  .transform((body): StreamUpdateRequest => {
    const { stream_id, events_requested, delivery, description, ...others } = body
    return {
      stream_id,
      supplied: {
        ...withoutAbsentMembers({ events_requested, delivery }),
        ...(description === undefined ? {} : { description }),
      },
      transmitterMembers: { stream_id, ...others },
    }
  })

/** A PATCH (update) or PUT (replace) of a stream. SSF 1.0 sections 8.1.1.3 and 8.1.1.4. */
export interface StreamUpdateRequest {
  readonly stream_id: string
  /** Members to change; on PUT, what is missing here is deleted. */
  readonly supplied: ReceiverSuppliedChanges
  /** Everything else that was sent; see {@link findChangedTransmitterMember}. */
  readonly transmitterMembers: Readonly<Record<string, unknown>>
}

/**
 * Parses the body of a create request. Every member is optional; unknown members are dropped; null
 * in the place of event types or a description and an empty poll URL count as absent. SSF 1.0 section 8.1.1.1.
 */
export function parseStreamCreateRequest(body: unknown): ParseResult<ReceiverSuppliedMembers> {
  return parseWithSchema<ReceiverSuppliedMembers>(createSchema, body)
}

/**
 * Parses the body of an update or replace request; `stream_id` is required. Null in the place of event types counts as
 * absent, that of a description removes it. SSF 1.0 sections 8.1.1.3 and 8.1.1.4.
 */
export function parseStreamUpdateRequest(body: unknown): ParseResult<StreamUpdateRequest> {
  return parseWithSchema<StreamUpdateRequest>(updateSchema, body)
}

const TRANSMITTER_MEMBERS = [
  'stream_id',
  'iss',
  'aud',
  'events_supported',
  'events_delivered',
  'min_verification_interval',
  'inactivity_timeout',
] as const

/**
 * Names the first member that only the transmitter may set and that was sent with another value
 * than the current one; such a request is refused with 400. Lists are compared as sets, and one audience
 * is the same as a list of it (RFC 7519 section 4.1.3). SSF 1.0 sections 8.1.1.3 and 8.1.1.4.
 */
export function findChangedTransmitterMember(
  sent: Readonly<Record<string, unknown>>,
  current: TransmitterSuppliedMembers,
): (typeof TRANSMITTER_MEMBERS)[number] | undefined {
  return TRANSMITTER_MEMBERS.find(
    (member) =>
      sent[member] !== undefined &&
      !isDeepEqual(toComparable(member, sent[member]), toComparable(member, current[member])),
  )
}

function methodOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('method' in value)) return undefined
  return value.method
}

function toComparable(member: (typeof TRANSMITTER_MEMBERS)[number], value: unknown): unknown {
  if (member === 'aud' && typeof value === 'string') return [value]
  return Array.isArray(value) ? value.toSorted() : value
}

function withoutAbsentMembers(members: {
  readonly events_requested?: readonly string[] | null | undefined
  readonly delivery?: DeliveryRequest | undefined
}): Omit<ReceiverSuppliedMembers, 'description'> {
  const { events_requested, delivery } = members
  return {
    ...(events_requested === undefined || events_requested === null ? {} : { events_requested }),
    ...(delivery === undefined ? {} : { delivery }),
  }
}
