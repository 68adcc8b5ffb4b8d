import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { parseId } from '../../platform/ids.ts'
import { notFound } from '../../platform/app-error.ts'
import { listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import { listGroupsOfPerson, PERSON_GROUP_SEARCH_FIELDS } from './person-group-read.ts'
import { personGroupSchema, toPersonGroupJson } from './person-group-routes.ts'
import { personSchema, toPersonJson } from './person-json.ts'
import { findPerson, listPeople, PERSON_SEARCH_FIELDS, type PersonRecord } from './person-read.ts'

const TAGS = ['People']

/** Reading people and the groups of one. */
export function personRoutes(db: Kysely<Schema>): ApiRoute[] {
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
  ]
}
