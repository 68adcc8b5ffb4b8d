/*
 * The bodies that create and change streams, standard and wrapped, read into one form. Owns what a
 * client may write; what becomes of it is for the use cases.
 */
import {
  DELIVERY_METHOD_POLL,
  DELIVERY_METHOD_PUSH,
  DEVICE_COMPLIANCE_CHANGE,
  VERIFICATION,
} from '@heliograph/ssf'
import { z } from 'zod'
import type { ErrorDetail } from '../../platform/app-error.ts'
import { findAuthorizationHeaderProblem } from '../push/authorization-header.ts'
import { authenticationShape, type PushAuthenticationInput } from '../push/push-authentication.ts'
import { refuseIf } from './refuse-if.ts'
import { HEARTBEAT_MINUTES_MAX } from '../diagnosis/health/heartbeat-rhythm.ts'
import { choiceShape, readChoices, type ChoiceInput } from './stream-choices.ts'

/** What a client asks for; absent members are left as they are, or get their default. */
export interface StreamInput {
  readonly name?: string | undefined
  readonly deliveryMethod?: 'push' | 'poll' | undefined
  /** Null: none, which only poll streams may ask for. */
  readonly endpointUrl?: string | null | undefined
  /** Only the wrapped form sets it: the receiver's address is its audience too. */
  readonly audience?: string | undefined
  readonly eventsRequested?: readonly string[] | undefined
  /** Asked for beside what the stream asks for already, for bodies that cannot name all of that. */
  readonly eventsAdded?: readonly string[] | undefined
  /** Null removes it. */
  readonly authorizationHeader?: string | null | undefined
  readonly fallsBackToPoll?: boolean | undefined
  readonly authentication?: PushAuthenticationInput | undefined
  readonly choices?: ChoiceInput | undefined
  readonly description?: string | null | undefined
  readonly isEnabled?: boolean | undefined
  /** Null: none. */
  readonly heartbeatMinutes?: number | null | undefined
  /** Where the endpoint URL stood in the body, for refusals. */
  readonly endpointPath: 'delivery.endpoint_url' | 'ssf_stream.aud'
}

const NAME_LENGTH_MAX = 255
const URL_LENGTH_MAX = 2_048
const EVENT_TYPES_MAX = 20
const DESCRIPTION_LENGTH_MAX = 2_048

/** The name that the console shows for the compliance change. */
const CONSOLE_EVENT_NAME = 'device_trust.status_changed'

/** The verification event is in every answer, so that it may come back in a request. */
const ACCEPTED_EVENT_TYPES: ReadonlySet<string> = new Set([
  DEVICE_COMPLIANCE_CHANGE,
  CONSOLE_EVENT_NAME,
  VERIFICATION,
])

const printable = (text: string): boolean => !/\p{Cc}/u.test(text) && text.isWellFormed()

/** The name of a stream, as an admin writes it. */
export const nameSchema = z
  .string()
  .trim()
  .min(1, 'Must not be empty')
  .max(NAME_LENGTH_MAX, `Must be at most ${NAME_LENGTH_MAX} characters long`)
  .refine(printable, 'Must not contain control characters')

const urlSchema = z
  .string()
  .trim()
  .max(URL_LENGTH_MAX, `Must be at most ${URL_LENGTH_MAX} characters long`)
  .refine(isHttpUrl, 'Must be an absolute http or https URL')

const endpointSchema = z.preprocess((value) => (value === '' ? null : value), urlSchema.nullable())

const authorizationHeaderSchema = z
  .string()
  .superRefine((value, context) => {
    const problem = value === '' ? undefined : findAuthorizationHeaderProblem(value)
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
  })
  .transform((value) => (value === '' ? null : value))
  .nullable()
  .describe('Push streams only: sent as the Authorization header of every push. Never answered.')

const eventTypesSchema = z
  .array(z.string())
  .max(EVENT_TYPES_MAX)
  .superRefine((types, context) => {
    for (const [index, type] of types.entries()) {
      if (ACCEPTED_EVENT_TYPES.has(type)) continue
      const message = `Only ${DEVICE_COMPLIANCE_CHANGE} is supported`
      context.addIssue({ code: 'custom', path: [index], message })
    }
    if (types.every((type) => type === VERIFICATION)) {
      context.addIssue({ code: 'custom', message: `Must contain ${DEVICE_COMPLIANCE_CHANGE}` })
    }
  })
  .describe('The event types to deliver: the device compliance change.')

const settingsShape = {
  fallback_to_poll: z
    .boolean()
    .describe('Push streams: whether events that cannot be pushed can be polled meanwhile.')
    .optional(),
  ...choiceShape,
  heartbeat_minutes: z
    .int()
    .min(1)
    .max(HEARTBEAT_MINUTES_MAX)
    .nullable()
    .describe('How often the receiver gets an unsolicited verification event; null: never.')
    .optional(),
  authorization_header: authorizationHeaderSchema.optional(),
} as const

const methodSchema = z
  .enum([DELIVERY_METHOD_PUSH, DELIVERY_METHOD_POLL])
  .describe('`urn:ietf:rfc:8935` is push, `urn:ietf:rfc:8936` is poll.')

const deliverySchema = z.strictObject({
  method: methodSchema.optional(),
  endpoint_url: endpointSchema
    .describe('Push: where events are delivered. Poll: informational.')
    .optional(),
  authorization_header: authorizationHeaderSchema.optional(),
  ...authenticationShape,
})

const assignedAudience = z
  .custom<undefined>((value) => value === undefined, 'Is assigned by the service')
  .optional()
  .meta({ description: 'Must not be sent: the service assigns it.', type: 'null' })

const standardShape = {
  name: nameSchema.optional(),
  description: z
    .string()
    .max(DESCRIPTION_LENGTH_MAX, `Must be at most ${DESCRIPTION_LENGTH_MAX} characters long`)
    .refine(printable, 'Must not contain control characters')
    .nullable()
    .optional(),
  delivery: deliverySchema.optional(),
  events_requested: eventTypesSchema.optional(),
  aud: assignedAudience,
  ...settingsShape,
} as const

const wrapperShape = {
  name: nameSchema.optional(),
  aud: urlSchema
    .describe('The receiver: audience of the events, and where push delivers.')
    .optional(),
  delivery_type: z.enum(['push', 'poll']).optional(),
  event_subscriptions: eventTypesSchema.optional(),
  ...settingsShape,
} as const

const enabledSchema = z.boolean().describe('Switches the stream on or off.').optional()

/**
 * The body that creates a stream: the standard members, or the same in an `ssf_stream` wrapper. A delivery that is
 * given says which (SSF 1.0 section 8.1.1); only where none is given does the stream poll.
 */
export const createStreamBody = z
  .strictObject({
    ...standardShape,
    delivery: deliverySchema.extend({ method: methodSchema }).optional(),
    ssf_stream: z.strictObject(wrapperShape).optional(),
  })
  .meta({ id: 'CreateStream' })

/** The body that changes a stream. */
export const updateStreamBody = z
  .strictObject({
    ...standardShape,
    enabled: enabledSchema,
    ssf_stream: z.strictObject({ ...wrapperShape, enabled: enabledSchema }).optional(),
  })
  .meta({ id: 'UpdateStream' })

type Body = z.output<typeof updateStreamBody>
type Wrapper = NonNullable<Body['ssf_stream']>

/** Members that may stand beside a wrapper. */
const BESIDE_WRAPPER: ReadonlySet<string> = new Set([
  'ssf_stream',
  'authorization_header',
  'enabled',
])

/**
 * What a validated body asks for, whichever form it has.
 *
 * @throws AppError `invalid_body` when both forms are mixed or say different things.
 */
export function readStreamInput(body: Body): StreamInput {
  const details: ErrorDetail[] = []
  const wrapper = body.ssf_stream
  if (wrapper !== undefined) {
    for (const name of Object.keys(body).filter((member) => !BESIDE_WRAPPER.has(member))) {
      details.push({ path: name, message: 'Cannot stand beside `ssf_stream`; put it inside.' })
    }
  }
  const authorizationHeader = mergeSame(
    [
      ['authorization_header', body.authorization_header],
      ['delivery.authorization_header', body.delivery?.authorization_header],
      ['ssf_stream.authorization_header', wrapper?.authorization_header],
    ],
    details,
  )
  const isEnabled = mergeSame(
    [
      ['enabled', body.enabled],
      ['ssf_stream.enabled', wrapper?.enabled],
    ],
    details,
  )
  refuseIf(details)
  const input = wrapper === undefined ? readStandard(body) : readWrapper(wrapper)
  return { ...input, authorizationHeader, isEnabled }
}

function readStandard(body: Body): StreamInput {
  return {
    name: body.name,
    deliveryMethod: body.delivery?.method && toMethodName(body.delivery.method),
    endpointUrl: body.delivery?.endpoint_url,
    eventsAdded: toEventTypes(body.events_requested),
    authentication: body.delivery,
    fallsBackToPoll: body.fallback_to_poll,
    choices: readChoices(body),
    heartbeatMinutes: body.heartbeat_minutes,
    description: body.description,
    endpointPath: 'delivery.endpoint_url',
  }
}

function readWrapper(wrapper: Wrapper): StreamInput {
  return {
    name: wrapper.name,
    deliveryMethod: wrapper.delivery_type,
    endpointUrl: wrapper.aud,
    audience: wrapper.aud,
    eventsAdded: toEventTypes(wrapper.event_subscriptions),
    fallsBackToPoll: wrapper.fallback_to_poll,
    choices: readChoices(wrapper),
    heartbeatMinutes: wrapper.heartbeat_minutes,
    endpointPath: 'ssf_stream.aud',
  }
}

/** One value from several places; different values are a contradiction. */
function mergeSame<Value>(
  places: readonly (readonly [path: string, value: Value | undefined])[],
  details: ErrorDetail[],
): Value | undefined {
  const given = places.filter(([, value]) => value !== undefined)
  const [first, ...others] = given
  for (const [path, value] of others) {
    if (value !== first?.[1]) {
      details.push({ path, message: `Contradicts \`${first?.[0] ?? ''}\`.` })
    }
  }
  return first?.[1]
}

function toMethodName(method: string): 'push' | 'poll' {
  return method === DELIVERY_METHOD_PUSH ? 'push' : 'poll'
}

/** The verification event comes with every stream, whether or not it is asked for. */
function toEventTypes(types: readonly string[] | undefined): readonly string[] | undefined {
  return types === undefined ? undefined : [DEVICE_COMPLIANCE_CHANGE]
}

/** Blanks, control characters and backslashes mean one thing to one reader of URLs and another to the next. */
const AMBIGUOUS_IN_URL = /[\s\p{Cc}\\]/u

function isHttpUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || AMBIGUOUS_IN_URL.test(text)) return false
  return text.isWellFormed() && URL.canParse(text)
}

/** What stands before the members of a body in refusals. */
export function toPathPrefix({ endpointPath }: StreamInput): '' | 'ssf_stream.' {
  return endpointPath === 'ssf_stream.aud' ? 'ssf_stream.' : ''
}
