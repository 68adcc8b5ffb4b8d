/*
 * Reading the record of sign-ins. Owns the auth log resource; the sessions are written by the use
 * cases of this folder.
 */
import type { Kysely } from 'kysely'
import { loadDevices } from '../../posture/devices/device-expansions.ts'
import { loadPeople } from '../../people/people/person-expansions.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Expansions } from '../../platform/http/expand.ts'
import { parseId } from '../../platform/ids.ts'
import { notFound } from '../../platform/app-error.ts'
import { listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import { authLogSchema, toAuthLogJson } from './auth-log-json.ts'
import { AUTH_LOG_SEARCH_FIELDS, findAuthLog, listAuthLogs } from './auth-log-read.ts'

/** Reading sign-in sessions. */
export function authLogRoutes(db: Kysely<Schema>, baseUrl: string): ApiRoute[] {
  const tags = ['Auth logs']
  const expand: Expansions = {
    person: { member: 'person_info', load: loadPeople(db) },
    device: { member: 'device_info', load: loadDevices(db, baseUrl) },
  }
  return [
    listRoute({
      path: '/auth_logs',
      summary: 'List sign-ins',
      tags,
      permission: null,
      fields: AUTH_LOG_SEARCH_FIELDS,
      expand,
      item: authLogSchema,
      fetch: ({ search, window }) => listAuthLogs(db, search, window),
      toJson: (session) => toAuthLogJson(baseUrl, session),
    }),
    route({
      method: 'GET',
      path: '/auth_logs/:id',
      summary: 'Show a sign-in',
      tags,
      permission: null,
      expand,
      responses: { 200: authLogSchema },
      handler: async ({ params }) => {
        const session = await findAuthLog(db, parseId(params.id, 'auth log'))
        if (session === undefined) throw notFound('auth log', params.id)
        return toAuthLogJson(baseUrl, session)
      },
    }),
  ]
}
