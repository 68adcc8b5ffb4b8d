/*
 * The wire form of the overview: what needs attention now, gathered from every wing.
 */
import { z } from 'zod'
import { REMEDIATION_STRATEGIES } from '../../../posture/checks/check-definition.ts'
import { timestampSchema } from '../../../platform/wire/wire-values.ts'

const statusCounts = {
  good: z.int(),
  notified: z.int(),
  will_block: z.int(),
  blocked: z.int(),
}

export const failingCheckSchema = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  target_type: z.enum(['devices', 'people']),
  remediation_strategy: z.enum(REMEDIATION_STRATEGIES),
  failing_count: z.int().describe('Devices, or people, that fail it at present.'),
  passing_count: z.int(),
})

export const blockingDeviceSchema = z.object({
  id: z.string(),
  name: z.string(),
  will_block_at: timestampSchema,
  owner_person_id: z.string().nullable(),
  owner_name: z.string().nullable(),
})

export const blockingDaySchema = z.object({
  date: z.iso.date().describe('A day of the time zone that was asked for.'),
  device_count: z.int().describe('What is overdue counts as today.'),
  devices: z.array(blockingDeviceSchema).describe('The first five.'),
})

const boundedCountSchema = z.object({
  count: z.int().describe('At most 10,000 are counted.'),
  exact: z.boolean().describe('False when there are more than were counted.'),
})

export const stoppedSignInSchema = z.object({
  id: z.string(),
  started_at: timestampSchema,
  person_name: z.string(),
  device_id: z.string().nullable(),
  initial_status: z.enum(['all_good', 'will_block', 'blocked', 'unknown']),
})

export const ailingDestinationSchema = z.object({
  id: z.string(),
  name: z.string(),
  state: z.enum(['failing', 'stopped']),
  stop_reason: z.string().nullable(),
  failing_since: timestampSchema.nullable(),
  last_success_at: timestampSchema.nullable(),
  last_failure: z.string().nullable().describe('What went wrong last, in words.'),
})

export const waitingSchema = z.object({
  count: z.int(),
  oldest_requested_at: timestampSchema.nullable(),
})

/** What needs attention now. */
export const overviewSchema = z
  .object({
    as_of: timestampSchema,
    devices: z.object({ total: z.int(), ...statusCounts }),
    failing_checks: z
      .array(failingCheckSchema)
      .describe('The ten checks that most devices fail, without those that are paused.'),
    blocking_days: z
      .array(blockingDaySchema)
      .describe('Today and the six days after it, with the devices that will be blocked.'),
    stopped_sign_ins: z
      .object({
        today: boundedCountSchema,
        last_seven_days: boundedCountSchema,
        latest: z.array(stoppedSignInSchema).describe('The last five of the seven days.'),
      })
      .nullable()
      .describe('Null for an admin who may not see sign-ins.'),
    streams: z
      .array(ailingDestinationSchema)
      .nullable()
      .describe(
        'Streams that fail or are stopped; of streams and webhooks, at most fifty. Null for who may not manage streams.',
      ),
    webhooks: z
      .array(ailingDestinationSchema)
      .nullable()
      .describe(
        'Webhooks that fail, or that the service or their receiver has switched off. Null for who may not manage webhooks.',
      ),
    waiting_requests: z.object({
      exemption: waitingSchema,
      registration: waitingSchema,
      reenrollment: waitingSchema.describe('Machines that ask to enroll as a known device.'),
    }),
  })
  .meta({ id: 'Overview', description: 'What needs attention now.' })

export const statusPointSchema = z.object({ at: timestampSchema, ...statusCounts })

/** The course of the statuses of the fleet. */
export const statusCourseSchema = z
  .object({
    from: timestampSchema,
    to: timestampSchema,
    step: z.string(),
    points: z
      .array(statusPointSchema)
      .describe(
        'Devices by status at each time, as they were last counted; none for times before the first count. The last point is that of `to`.',
      ),
  })
  .meta({
    id: 'DeviceStatusCourse',
    description: 'How many devices were in each status, over time.',
  })
