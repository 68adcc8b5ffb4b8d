import { z } from 'zod'
import { timestampSchema, toTimestamp } from '../../../platform/wire/wire-values.ts'
import { deliverySchema } from '../../dispatch/delivery-json.ts'
import { ownedDeliverySchema, toOwnedDeliveryJson } from '../deliveries/all-deliveries-json.ts'
import { DESTINATION_KINDS } from '../deliveries/all-deliveries-read.ts'
import type { FollowedEvents } from './follow-event.ts'
import { MISSING_RULES } from './missing-deliveries.ts'
import { EVENT_QUERY_KINDS } from './parse-event-query.ts'
import { STEP_KINDS, type TrailStep } from './trail-steps.ts'

const stepSchema = z
  .object({
    kind: z
      .enum(STEP_KINDS)
      .describe(
        '`status`: a device changed; `audit`: what the audit log says; `event`: the message of webhooks; `delivery` and its `attempt`s, of which the latest three are shown.',
      ),
    at: timestampSchema,
    summary: z.string().describe('In words.'),
    state: z
      .string()
      .nullable()
      .describe(
        'The state of a delivery, the outcome of an attempt, the action of an audit entry.',
      ),
    record: z
      .object({ type: z.string(), id: z.string() })
      .nullable()
      .describe('What it is about, as audit entries name it.'),
    event_id: deliverySchema.shape.event_id.nullable(),
    delivery: ownedDeliverySchema.nullable(),
  })
  .meta({ id: 'EventTrailStep' })

const missingSchema = z
  .object({
    destination: z
      .object({ type: z.enum(DESTINATION_KINDS), id: z.string(), name: z.string() })
      .nullable()
      .describe('Null for all of a kind.'),
    about: z.string(),
    rule: z.enum(MISSING_RULES),
    reason: z.string().describe('In words, by the present configuration.'),
  })
  .meta({ id: 'MissingDelivery' })

/** What a search for an event answers. */
export const eventSearchSchema = z
  .object({
    found_by: z.enum(EVENT_QUERY_KINDS).nullable().describe('Null where nothing was found.'),
    trails: z
      .array(
        z.object({
          txn: z.string(),
          at: timestampSchema.nullable(),
          steps: z.array(stepSchema).describe('From the cause to the receivers.'),
          missing: z.array(missingSchema).describe('Who was told nothing, and why.'),
        }),
      )
      .describe('One for each cause, the latest first; 20 at most.'),
    has_more: z.boolean().describe('There is more than one answer holds.'),
  })
  .meta({ id: 'EventSearch' })

/** The wire form of what was found. */
export function toEventSearchJson({
  foundBy,
  trails,
  hasMore,
}: FollowedEvents): z.input<typeof eventSearchSchema> {
  return {
    found_by: foundBy,
    trails: trails.map(({ txn, at, steps, missing }) => ({
      txn,
      at: at === null ? null : toTimestamp(at),
      steps: steps.map(toStepJson),
      missing: [...missing],
    })),
    has_more: hasMore,
  }
}

function toStepJson({ kind, at, summary, state, record, delivery, eventId }: TrailStep) {
  return {
    kind,
    at: toTimestamp(at),
    summary,
    state,
    record,
    event_id: eventId,
    delivery: delivery === null ? null : toOwnedDeliveryJson(delivery),
  }
}
