/*
 * What posture knows of a person: the devices of the person, and what is wrong with both. The person
 * itself is people's.
 */
import type { Kysely } from 'kysely'
import { PERSON_LIST } from '../../people/people/person-read.ts'
import type { Schema } from '../../schema/schema.ts'
import { listRecords, type ApiRoute } from '../../schema/operations.ts'
import { issueResource } from '../issues/issue-json.ts'
import { deviceResource } from './device-json.ts'
import { isOpenIssueOf, isRegisteredTo } from './person-device-read.ts'

/** The devices of a person, and what is wrong with them. */
export function personDeviceRoutes(db: Kysely<Schema>, baseUrl: string): ApiRoute[] {
  const access = { tags: ['People'], permission: null } as const
  return [
    listRecords(deviceResource(db, baseUrl), {
      ...access,
      path: '/people/:id/registered_devices',
      summary: 'List the registered devices of a person',
      scope: async ({ id }) => isRegisteredTo((await PERSON_LIST.get(db, id)).id),
    }),
    listRecords(issueResource(db, baseUrl), {
      ...access,
      path: '/people/:id/open_issues',
      summary: 'List the open issues of a person',
      description: 'Open issues of the person and of the devices that are registered to them.',
      scope: async ({ id }) => isOpenIssueOf((await PERSON_LIST.get(db, id)).id),
    }),
  ]
}
