import { z } from 'zod'
import { route, type ApiRoute } from '../../../schema/operations.ts'
import { isAreaOpen } from '../../../schema/access-levels.ts'
import type { Principal } from '../../../schema/principal.ts'
import { listClosedEvents } from '../../webhooks/webhook-event-areas.ts'
import type { SeeDestinations } from '../deliveries/seen-destinations.ts'
import { eventSearchSchema, toEventSearchJson } from './event-search-json.ts'
import { followEvent, type FollowDependencies } from './follow-event.ts'
import { parseEventQuery } from './parse-event-query.ts'

/** As the list of the audit log is declared. */
const AUDIT_LOG = { method: 'GET', path: '/audit_logs', tags: ['Audit logs'] } as const

/** Keys read the audit log; of admins those whose access level lets them. */
function seesAuditLog({ session }: Principal): boolean {
  return session === undefined || isAreaOpen(AUDIT_LOG, session)
}

const QUERY_LENGTH_MAX = 300

export interface EventSearchDependencies extends FollowDependencies {
  readonly seeDestinations: SeeDestinations
}

/** Where an event is. */
export function eventSearchRoutes({
  seeDestinations,
  ...dependencies
}: EventSearchDependencies): ApiRoute[] {
  return [
    route({
      tags: ['Deliveries'],
      permission: null,
      method: 'GET',
      path: '/event_search',
      summary: 'Follow an event from its cause to its receivers',
      description:
        'Finds the causes of what is looked for and, of each, the audit entries, changes of status, events, deliveries and attempts, in their order; and who was told nothing, and why. Deliveries are those of the streams and webhooks that the caller may manage; events and audit entries those that it may see elsewhere. Where nothing of that is left, nothing is found.',
      query: z.object({
        query: z
          .string()
          .min(1)
          .max(QUERY_LENGTH_MAX)
          .describe(
            'What is looked for: `event_id:` (or `jti:`), `txn:`, `device_id:`, `person_id:`, `email:` or `request_id:`, and the value. Of a value alone it is told by its form.',
          ),
      }),
      example: { query: { query: 'device_id:1' } },
      responses: { 200: eventSearchSchema },
      handler: async ({ query, principal }) => {
        const queries = parseEventQuery(query.query)
        const view = {
          kinds: await seeDestinations(principal),
          showsAudit: seesAuditLog(principal as Principal),
          closedEvents: listClosedEvents(principal),
        }
        return toEventSearchJson(await followEvent(queries, view, dependencies))
      },
    }),
  ]
}
