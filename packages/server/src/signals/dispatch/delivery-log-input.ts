/*
 * The bodies that send deliveries again and give them up: the same for streams and webhooks, for
 * operators and receivers.
 */
import { z } from 'zod'
import { AppError } from '../../platform/app-error.ts'
import { timestampInput } from '../../platform/wire/body-values.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import type { DeliverySelection } from './redrive-deliveries.ts'

const EVENT_IDS_MAX = 1_000
const EVENT_ID_LENGTH_MAX = 255

const rangeShape = {
  since: timestampInput.optional().describe('Only what was queued at this time or later.'),
  until: timestampInput.optional().describe('Only what was queued at this time or earlier.'),
  event_ids: z
    .array(z.string().min(1).max(EVENT_ID_LENGTH_MAX).transform(toStorableText))
    .min(1)
    .max(EVENT_IDS_MAX)
    .optional()
    .describe('Only these events.'),
} as const

/** The body that sends dead deliveries again. */
export const redriveBody = z
  .strictObject({
    ...rangeShape,
    include_discarded: z
      .boolean()
      .default(false)
      .describe('Sends what was given up as well, for example while a receiver was disabled.'),
  })
  .meta({ id: 'RedriveDeliveries' })

/** The body that gives deliveries up; it says up to when, or which. */
export const discardBody = z
  .strictObject({
    ...rangeShape,
    states: z
      .array(z.enum(['queued', 'dead']))
      .min(1)
      .default(['queued', 'dead'])
      .describe('Both when left out.'),
  })
  .meta({ id: 'DiscardDeliveries' })

/** What a call moved. */
export const movedSchema = z
  .object({
    count: z.int(),
    has_more: z
      .boolean()
      .describe('One call moves 10,000 at most: repeat it until nothing is left.'),
  })
  .meta({ id: 'MovedDeliveries', description: 'How many deliveries were moved.' })

type Narrowing = Pick<DeliverySelection, 'since' | 'until' | 'eventIds' | 'states'>

/** What a body selects to be sent again. */
export function toRedriveSelection(body: z.output<typeof redriveBody>): Narrowing {
  const states = body.include_discarded ? (['dead', 'discarded'] as const) : (['dead'] as const)
  return { since: body.since, until: body.until, eventIds: body.event_ids, states }
}

/**
 * What a body selects to be given up.
 *
 * @throws AppError `invalid_body` for one that selects everything
 */
export function toDiscardSelection(body: z.output<typeof discardBody>): Narrowing {
  if (body.until === undefined && body.event_ids === undefined) {
    const message = 'Say up to which time (`until`) or which events (`event_ids`).'
    throw new AppError('invalid_body', `The body is not valid. ${message}`, {
      details: [{ path: 'until', message }],
    })
  }
  return { since: body.since, until: body.until, eventIds: body.event_ids, states: body.states }
}
