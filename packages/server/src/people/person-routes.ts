import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { Schema } from '../platform/db/schema.ts'
import { listRoute } from '../platform/http/list-route.ts'
import { route, type ApiRoute } from '../platform/http/route.ts'
import { notFound, parseId, timestampSchema, toTimestamp } from '../platform/http/wire-values.ts'
import { findPerson, listPeople, PERSON_SEARCH_FIELDS, type PersonRecord } from './person-read.ts'

const personSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    email: z.string(),
    created_at: timestampSchema,
    last_authenticated_at: timestampSchema.nullable(),
    has_registered_device: z.boolean(),
    usernames: z.array(z.string()),
  })
  .meta({ id: 'Person' })

/** Reading people. */
export function personRoutes(db: Kysely<Schema>): ApiRoute[] {
  const tags = ['People']
  return [
    listRoute({
      path: '/people',
      summary: 'List people',
      tags,
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
      tags,
      permission: null,
      responses: { 200: personSchema },
      handler: async ({ params }) => {
        const person = await findPerson(db, parseId(params.id, 'person'))
        if (person === undefined) throw notFound('person', params.id)
        return toPersonJson(person)
      },
    }),
  ]
}

function toPersonJson(person: PersonRecord): z.input<typeof personSchema> {
  return {
    id: person.id,
    name: person.name,
    email: person.email,
    created_at: toTimestamp(person.created_at),
    last_authenticated_at: toTimestamp(person.last_authenticated_at),
    has_registered_device: Boolean(person.has_registered_device),
    usernames: person.usernames,
  }
}
