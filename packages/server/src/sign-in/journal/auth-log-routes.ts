/*
 * Reading the record of sign-ins. Owns the auth log resource; the sessions are written by the use
 * cases of this folder.
 */
import type { Kysely } from 'kysely'
import { deviceResource } from '../../posture/devices/device-json.ts'
import { personResource } from '../../people/people/person-json.ts'
import type { Schema } from '../../schema/schema.ts'
import { listRecords, loadRecords, showRecord, type ApiRoute } from '../../schema/operations.ts'
import { authLogSchema, toAuthLogJson } from './auth-log-json.ts'
import { AUTH_LOG_LIST, type ListedAuthLog } from './auth-log-read.ts'

/** Reading sign-in sessions. */
export function authLogRoutes(db: Kysely<Schema>, baseUrl: string): ApiRoute[] {
  const access = { tags: ['Auth logs'], permission: null } as const
  const sessions = {
    db,
    list: AUTH_LOG_LIST,
    item: authLogSchema,
    toJson: (session: ListedAuthLog) => toAuthLogJson(baseUrl, session),
    expand: {
      person: { member: 'person_info', load: loadRecords(personResource(db)) },
      device: { member: 'device_info', load: loadRecords(deviceResource(db, baseUrl)) },
    },
  }
  return [
    listRecords(sessions, { ...access, path: '/auth_logs', summary: 'List sign-ins' }),
    showRecord(sessions, { ...access, path: '/auth_logs/:id', summary: 'Show a sign-in' }),
  ]
}
