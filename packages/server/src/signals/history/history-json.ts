/* The messages of state and replay on the wire, the same on both surfaces. */
import { COMPLIANCE_STATUSES, type SubjectIdentifier } from '@heliograph/ssf'
import { z } from 'zod'

/** The body of a replay. */
export const replayBody = z
  .strictObject({
    from_sequence: z.int().positive().optional().describe('The number of the first event.'),
    from_jti: z.string().min(1).max(1_024).optional().describe('The event before the first one.'),
    from_time: z
      .number()
      .nonnegative()
      .max(Number.MAX_SAFE_INTEGER)
      .optional()
      .describe('The time of the first event, in seconds since the epoch.'),
  })
  .meta({ id: 'StreamReplay', description: 'Exactly one member says where the replay begins.' })

const sequenceSchema = z.int().nullable().describe('The number of an event in the stream.')

/** A page of the state of a stream. */
export const stateSchema = z
  .object({
    as_of_sequence: z.int().describe('This event and all before it are taken into account.'),
    as_of: z.number().describe('When the page was read, in seconds since the epoch.'),
    subjects: z
      .array(
        z.object({
          sub_id: z
            .custom<SubjectIdentifier>((value) => typeof value === 'object')
            .meta({ type: 'object', description: 'As the events of the stream name it.' }),
          status: z.enum(COMPLIANCE_STATUSES),
          event_timestamp: z.number().describe('When the status began, in seconds.'),
          jti: z.string().nullable().describe('The event that told the status.'),
          sequence: sequenceSchema,
        }),
      )
      .readonly(),
    next_cursor: z.string().nullable().describe('Continues the state; null on the last page.'),
  })
  .meta({ id: 'StreamState' })

/** What a replay sends again. */
export const replayAnswerSchema = z
  .object({
    queued: z.int().describe('How many events are sent again.'),
    first_sequence: sequenceSchema,
    last_sequence: sequenceSchema,
    complete: z.boolean().describe('False when some of them are no longer kept.'),
  })
  .meta({ id: 'StreamReplayAnswer' })
