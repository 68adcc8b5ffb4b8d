import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import { deviceExpansions } from '../../posture/devices/device-expansions.ts'
import { deviceSchema, toDeviceJson } from '../../posture/devices/device-json.ts'
import { DEVICE_SEARCH_FIELDS, listDevices } from '../../posture/devices/device-read.ts'
import { issueExpansions } from '../../posture/issues/issue-expansions.ts'
import { issueSchema, toIssueJson } from '../../posture/issues/issue-json.ts'
import { ISSUE_SEARCH_FIELDS, listIssues } from '../../posture/issues/issue-read.ts'
import type { Schema } from '../../schema/schema.ts'
import { listRoute } from '../../platform/http/list-route.ts'
import { route, type ApiRoute } from '../../platform/http/route.ts'
import { notFound, parseId } from '../../platform/http/wire-values.ts'
import { listGroupsOfPerson, PERSON_GROUP_SEARCH_FIELDS } from './person-group-read.ts'
import { personGroupSchema, toPersonGroupJson } from './person-group-routes.ts'
import { personSchema, toPersonJson } from './person-json.ts'
import { findPerson, listPeople, PERSON_SEARCH_FIELDS, type PersonRecord } from './person-read.ts'

const TAGS = ['People']

/** Reading people and what belongs to one. */
export function personRoutes(db: Kysely<Schema>, baseUrl: string): ApiRoute[] {
  const getPerson = async (id: string): Promise<PersonRecord> => {
    const person = await findPerson(db, parseId(id, 'person'))
    if (person === undefined) throw notFound('person', id)
    return person
  }
  return [
    listRoute({
      path: '/people',
      summary: 'List people',
      tags: TAGS,
      permission: null,
      fields: PERSON_SEARCH_FIELDS,
      item: personSchema,
      fetch: ({ search, window }) => listPeople(db, search, window),
      toJson: toPersonJson,
    }),
    route({
      method: 'GET',
      path: '/people/:id',
      summary: 'Show a person',
      tags: TAGS,
      permission: null,
      responses: { 200: personSchema },
      handler: async ({ params }) => toPersonJson(await getPerson(params.id)),
    }),
    listRoute({
      path: '/people/:id/person_groups',
      summary: 'List the groups of a person',
      tags: TAGS,
      permission: null,
      fields: PERSON_GROUP_SEARCH_FIELDS,
      item: personGroupSchema,
      fetch: async ({ params, search, window }) => {
        const person = await getPerson(params.id)
        return listGroupsOfPerson(db, person.id, search, window)
      },
      toJson: toPersonGroupJson,
    }),
    ...postureRoutes(db, baseUrl, getPerson),
  ]
}

/** The devices of a person, and what is wrong with them. */
function postureRoutes(
  db: Kysely<Schema>,
  baseUrl: string,
  getPerson: (id: string) => Promise<PersonRecord>,
): ApiRoute[] {
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
        const person = await getPerson(params.id)
        return listDevices(db, search, window, isRegisteredTo(person.id))
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
        const person = await getPerson(params.id)
        return listIssues(db, { search, window, condition: isOpenIssueOf(person.id) })
      },
      toJson: (issue) => toIssueJson(baseUrl, issue),
    }),
  ]
}

function isRegisteredTo(personId: string): Expression<SqlBool> {
  return sql<SqlBool>`(device.owner_person_id = ${personId} and device.registered_at is not null)`
}

function isOpenIssueOf(personId: string): Expression<SqlBool> {
  // Two searches by an index each: as one condition joined with "or" it would be read for every issue.
  return sql<SqlBool>`issue.id = any(array(
    select issue.id from issue where issue.person_id = ${personId} and issue.resolved_at is null
    union all
    select issue.id from issue join device on device.id = issue.device_id
    where ${isRegisteredTo(personId)} and issue.resolved_at is null))`
}
