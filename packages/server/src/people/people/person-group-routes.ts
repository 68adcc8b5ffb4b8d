import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { Schema } from '../../schema/schema.ts'
import { parseId } from '../../platform/ids.ts'
import { notFound } from '../../platform/app-error.ts'
import { listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import {
  findPersonGroup,
  listPersonGroups,
  PERSON_GROUP_SEARCH_FIELDS,
  type PersonGroupRecord,
} from './person-group-read.ts'
import { personSchema, toPersonJson } from './person-json.ts'
import { listPeopleOfGroup, PERSON_SEARCH_FIELDS } from './person-read.ts'

/** A group of people on the wire. */
export const personGroupSchema = z
  .object({ id: z.string(), name: z.string() })
  .meta({ id: 'PersonGroup' })

/** The wire form of a group of people. */
export function toPersonGroupJson(group: PersonGroupRecord): z.input<typeof personGroupSchema> {
  return { id: group.id, name: group.name }
}

/** Reading the groups that the identity provider keeps. */
export function personGroupRoutes(db: Kysely<Schema>): ApiRoute[] {
  const tags = ['Person groups']
  const getGroup = async (id: string): Promise<PersonGroupRecord> => {
    const group = await findPersonGroup(db, parseId(id, 'person group'))
    if (group === undefined) throw notFound('person group', id)
    return group
  }
  return [
    listRoute({
      path: '/person_groups',
      summary: 'List person groups',
      tags,
      permission: null,
      fields: PERSON_GROUP_SEARCH_FIELDS,
      item: personGroupSchema,
      fetch: ({ search, window }) => listPersonGroups(db, search, window),
      toJson: toPersonGroupJson,
    }),
    route({
      method: 'GET',
      path: '/person_groups/:id',
      summary: 'Show a person group',
      tags,
      permission: null,
      responses: { 200: personGroupSchema },
      handler: async ({ params }) => toPersonGroupJson(await getGroup(params.id)),
    }),
    listRoute({
      path: '/person_groups/:id/people',
      summary: 'List the people of a group',
      tags,
      permission: null,
      fields: PERSON_SEARCH_FIELDS,
      item: personSchema,
      fetch: async ({ params, search, window }) => {
        const group = await getGroup(params.id)
        return listPeopleOfGroup(db, group.id, search, window)
      },
      toJson: toPersonJson,
    }),
  ]
}
