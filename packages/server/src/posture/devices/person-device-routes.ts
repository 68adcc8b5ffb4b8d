/*
 * What posture knows of a person: the devices of the person, and what is wrong with both. The person
 * itself is people's.
 */
import type { Kysely } from 'kysely'
import { findPerson } from '../../people/people/person-read.ts'
import type { Schema } from '../../schema/schema.ts'
import { parseId } from '../../platform/ids.ts'
import { notFound } from '../../platform/app-error.ts'
import { listRoute, type ApiRoute } from '../../schema/operations.ts'
import { issueExpansions } from '../issues/issue-expansions.ts'
import { issueSchema, toIssueJson } from '../issues/issue-json.ts'
import { ISSUE_SEARCH_FIELDS, listIssues } from '../issues/issue-read.ts'
import { deviceExpansions } from './device-expansions.ts'
import { deviceSchema, toDeviceJson } from './device-json.ts'
import { DEVICE_SEARCH_FIELDS, listDevices } from './device-read.ts'
import { isOpenIssueOf, isRegisteredTo } from './person-device-read.ts'

const TAGS = ['People']

/** The devices of a person, and what is wrong with them. */
export function personDeviceRoutes(db: Kysely<Schema>, baseUrl: string): ApiRoute[] {
  const getPersonId = async (id: string): Promise<string> => {
    const person = await findPerson(db, parseId(id, 'person'))
    if (person === undefined) throw notFound('person', id)
    return person.id
  }
  return [
    listRoute({
      path: '/people/:id/registered_devices',
      summary: 'List the registered devices of a person',
      tags: TAGS,
      permission: null,
      fields: DEVICE_SEARCH_FIELDS,
      expand: deviceExpansions(db),
      item: deviceSchema,
      fetch: async ({ params, search, window }) => {
        const personId = await getPersonId(params.id)
        return listDevices(db, search, window, isRegisteredTo(personId))
      },
      toJson: (device) => toDeviceJson(baseUrl, device),
    }),
    listRoute({
      path: '/people/:id/open_issues',
      summary: 'List the open issues of a person',
      description: 'Open issues of the person and of the devices that are registered to them.',
      tags: TAGS,
      permission: null,
      fields: ISSUE_SEARCH_FIELDS,
      expand: issueExpansions(db, baseUrl),
      item: issueSchema,
      fetch: async ({ params, search, window }) => {
        const personId = await getPersonId(params.id)
        return listIssues(db, { search, window, condition: isOpenIssueOf(personId) })
      },
      toJson: (issue) => toIssueJson(baseUrl, issue),
    }),
  ]
}
