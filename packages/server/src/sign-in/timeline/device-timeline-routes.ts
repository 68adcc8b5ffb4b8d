import type { Kysely } from 'kysely'
import { DEVICE_LIST } from '../../posture/devices/device-read.ts'
import { mayOpenArea } from '../../schema/access-levels.ts'
import { listRoute, type ApiRoute } from '../../schema/operations.ts'
import type { Schema } from '../../schema/schema.ts'
import { timelineEntrySchema, toTimelineEntryJson } from './device-timeline-json.ts'
import { listTimeline, type TimelineEntry } from './device-timeline-read.ts'

/** Reading what happened to a device. */
export function deviceTimelineRoutes(db: Kysely<Schema>, baseUrl: string): ApiRoute[] {
  return [
    listRoute({
      path: '/devices/:id/timeline',
      summary: 'Show what happened to a device',
      description:
        'Changes of its status and of the results of its checks with their causes, issues, requests, enrollment, registration and sign-ins: one list, the latest first. Admins who may not see sign-ins see none here either. It goes back as far as each of them is kept.',
      tags: ['Devices'],
      permission: null,
      item: timelineEntrySchema,
      toJson: (entry: TimelineEntry) => toTimelineEntryJson(baseUrl, entry),
      keyOf: ({ place }: TimelineEntry) => place,
      fetch: async ({ params, window, principal }) => {
        const { id } = await DEVICE_LIST.get(db, params.id)
        const showsSignIns = mayOpenArea(principal.session, 'Auth logs')
        return listTimeline(db, id, window, { showsSignIns })
      },
    }),
  ]
}
