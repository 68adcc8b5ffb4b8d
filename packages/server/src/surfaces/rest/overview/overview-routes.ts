/*
 * The overview: what needs attention now, and how the fleet came to be as it is.
 */
import { z } from 'zod'
import type { Foundation } from '../../../changes/foundation.ts'
import type { Caller } from '../../../platform/http/operation.ts'
import { isTimeZone } from '../../../platform/local-days.ts'
import { shareReading } from '../../../platform/shared-reading.ts'
import { toWire } from '../../../platform/wire/to-wire.ts'
import { readStatusCourse, STATUS_STEPS } from '../../../posture/overview/device-status-course.ts'
import { countStatuses } from '../../../posture/overview/status-count-store.ts'
import { mayOpenArea } from '../../../schema/access-levels.ts'
import { route, type ApiRoute } from '../../../schema/operations.ts'
import { STREAM_ACCESS } from '../../../signals/streams/stream-access.ts'
import { WEBHOOK_ACCESS } from '../../../signals/webhooks/webhook-routes.ts'
import { overviewSchema, statusCourseSchema, statusPointSchema } from './overview-json.ts'
import { readOverview } from './read-overview.ts'

const TIME_ZONE_LENGTH_MAX = 64

const timeZoneQuery = z.object({
  time_zone: z
    .string()
    .max(TIME_ZONE_LENGTH_MAX)
    .refine(isTimeZone, 'Must be the name of an IANA time zone, such as Europe/Berlin')
    .default('UTC')
    .describe('Whose days are shown.'),
})

const timeSchema = z.iso
  .datetime({ offset: true, error: 'Must be an ISO 8601 time with a zone' })
  .transform((text) => new Date(text))
  .optional()

const courseQuery = z.object({
  from: timeSchema.describe('A week before `to` when it is left out.'),
  to: timeSchema.describe('Now when it is left out, or lies in the future.'),
  step: z
    .enum(STATUS_STEPS)
    .optional()
    .describe(
      'The time between two points, of which there are at most 1,000; the shortest that leads to at most 200 when it is left out.',
    ),
})

/** As many time zones as consoles are likely to stand in. */
const TIME_ZONES_MAX = 20

export interface OverviewDependencies extends Pick<Foundation, 'db' | 'clock'> {
  /** For how long everybody who asks is shown the same: it is read from all devices. */
  readonly freshMs: number
}

/** Reading what needs attention now. */
export function overviewRoutes({ db, clock, freshMs }: OverviewDependencies): ApiRoute[] {
  const shared = { clock, freshMs, keysMax: TIME_ZONES_MAX }
  const read = shareReading((timeZone) => readOverview(db, timeZone, clock.now()), shared)
  const count = shareReading(() => countStatuses(db), shared)
  const access = { method: 'GET', tags: ['Overview'], permission: null } as const
  return [
    route({
      ...access,
      path: '/overview',
      summary: 'Show what needs attention now',
      description:
        'Devices by status, the checks that most of them fail, who will be blocked within seven days, sign-ins that were stopped, streams and webhooks that fail, and requests that wait.',
      query: timeZoneQuery,
      responses: { 200: overviewSchema },
      handler: async ({ query, principal }) => narrow(await read(query.time_zone), principal),
    }),
    route({
      ...access,
      path: '/overview/device_statuses',
      summary: 'Show devices by status over time',
      description:
        'Counted every five minutes. Of the ninety days before the first count, what transitions tell of devices that still exist.',
      query: courseQuery,
      responses: { 200: statusCourseSchema },
      handler: async ({ query }) => {
        const { from, to, step } = query
        const course = await readStatusCourse(
          { db, countNow: () => count('') },
          { from, to, step },
          clock.now(),
        )
        return toWire(statusCourseSchema, course, {
          points: course.points.map((point) => toWire(statusPointSchema, point)),
        })
      },
    }),
  ]
}

/** Everybody is shown one reading, less what the caller may not see elsewhere. */
function narrow(
  overview: z.input<typeof overviewSchema>,
  { session, permissions }: Caller,
): z.input<typeof overviewSchema> {
  return {
    ...overview,
    stopped_sign_ins: mayOpenArea(session, 'Auth logs') ? overview.stopped_sign_ins : null,
    streams: permissions.has(STREAM_ACCESS.permission) ? overview.streams : null,
    webhooks: permissions.has(WEBHOOK_ACCESS.permission) ? overview.webhooks : null,
  }
}
