/* Routes about sessions of admins: the own ones, and those of everybody for whoever manages admins. */
import { z } from 'zod'
import { changeRoute } from '../../changes/change-routes.ts'
import type { Change } from '../../changes/change.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import { notFound } from '../../platform/app-error.ts'
import { parseId } from '../../platform/ids.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { listRoute, noContent, route, type ApiRoute } from '../../schema/operations.ts'
import { deleteListedSession, listSessions, type ListedSession } from './admin-session-store.ts'
import { SESSION_TAGS } from './browser-input.ts'
import { SIGN_IN_METHODS } from './session-json.ts'

const listedSessionSchema = z
  .object({
    id: z.string(),
    admin_id: z.string(),
    admin_email: z.string(),
    method: z.enum(SIGN_IN_METHODS),
    user_agent: z.string().nullable().describe('What the browser said of itself.'),
    ip_address: z.string().nullable(),
    created_at: timestampSchema,
    last_used_at: timestampSchema.describe('To the minute.'),
    ends_at: timestampSchema,
  })
  .meta({ id: 'AdminSession' })

/** Sessions that have not ended, and their end. */
export function adminSessionRoutes({
  db,
  runChange,
}: Pick<Foundation, 'db' | 'runChange'>): ApiRoute[] {
  const own = { tags: SESSION_TAGS, permission: 'session' } as const
  const all = { tags: ['Admins'], permission: 'Manage Admins' } as const
  const shown = { item: listedSessionSchema, toJson: toListedJson }
  return [
    listRoute({
      ...own,
      ...shown,
      path: '/console/session/sessions',
      summary: 'List the own sessions',
      fetch: ({ principal, window }) => listSessions(db, window, principal.id),
    }),
    route({
      ...own,
      method: 'DELETE',
      path: '/console/session/sessions/:id',
      summary: 'End an own session',
      description: 'The next request with it is refused, in every process of the service.',
      responses: { 204: noContent },
      handler: async (context) => {
        const { params, principal } = context
        return runChange(toOrigin(context), (change) =>
          endListedSession(change, params.id, principal.id),
        )
      },
    }),
    listRoute({
      ...all,
      ...shown,
      path: '/admin_sessions',
      summary: 'List the sessions of admins',
      filters: z.object({
        admin_id: z
          .string()
          .regex(/^\d{1,18}$/)
          .optional()
          .describe('Those of one admin.'),
      }),
      fetch: ({ window, filters }) => listSessions(db, window, filters.admin_id),
    }),
    changeRoute(runChange, {
      ...all,
      method: 'DELETE',
      path: '/admin_sessions/:id',
      summary: 'End a session of an admin',
      description: 'The next request with it is refused, in every process of the service.',
      responses: { 204: noContent },
      handler: async ({ change, params }) => endListedSession(change, params.id),
    }),
  ]
}

/** @throws AppError `not_found` */
async function endListedSession(change: Change, id: string, adminId?: string): Promise<undefined> {
  const ended = await deleteListedSession(change.tx, parseId(id, 'session'), adminId)
  if (ended === undefined) throw notFound('session', id)
  change.recordAudit({
    action: 'admin_session.ended',
    target: { type: 'admin_session', id },
    description: `ended a session of the admin ${ended.adminId}`,
    before: { admin_id: ended.adminId, method: ended.method, ip_address: ended.ipAddress },
  })
}

function toListedJson(session: ListedSession): z.input<typeof listedSessionSchema> {
  return {
    id: session.id,
    admin_id: session.adminId,
    admin_email: session.adminEmail,
    method: session.method,
    user_agent: session.userAgent,
    ip_address: session.ipAddress,
    created_at: toTimestamp(session.createdAt),
    last_used_at: toTimestamp(session.lastUsedAt),
    ends_at: toTimestamp(session.expiresAt),
  }
}
