import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { parseId } from '../../platform/ids.ts'
import { notFound } from '../../platform/app-error.ts'
import { listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import { deprovisionedPersonSchema, toDeprovisionedPersonJson } from './person-json.ts'
import {
  findDeprovisionedPerson,
  listDeprovisionedPeople,
  PERSON_SEARCH_FIELDS,
} from './person-read.ts'

/** Reading the records of people whom the identity provider has switched off or deleted. */
export function deprovisionedPersonRoutes(db: Kysely<Schema>, baseUrl: string): ApiRoute[] {
  const tags = ['People']
  return [
    listRoute({
      path: '/deprovisioned_people',
      summary: 'List deprovisioned people',
      tags,
      permission: null,
      fields: PERSON_SEARCH_FIELDS,
      item: deprovisionedPersonSchema,
      fetch: ({ search, window }) => listDeprovisionedPeople(db, search, window),
      toJson: (person) => toDeprovisionedPersonJson(baseUrl, person),
    }),
    route({
      method: 'GET',
      path: '/deprovisioned_people/:id',
      summary: 'Show a deprovisioned person',
      tags,
      permission: null,
      responses: { 200: deprovisionedPersonSchema },
      handler: async ({ params }) => {
        const person = await findDeprovisionedPerson(db, parseId(params.id, 'deprovisioned person'))
        if (person === undefined) throw notFound('deprovisioned person', params.id)
        return toDeprovisionedPersonJson(baseUrl, person)
      },
    }),
  ]
}
