import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { Schema } from '../../schema/schema.ts'
import { listRecords, showRecord, type ApiRoute } from '../../schema/operations.ts'
import { PERSON_GROUP_LIST, type PersonGroupRecord } from './person-group-read.ts'
import { personResource } from './person-json.ts'
import { isInGroup } from './person-read.ts'

/** A group of people on the wire. */
export const personGroupSchema = z
  .object({ id: z.string(), name: z.string() })
  .meta({ id: 'PersonGroup' })

/** Groups of people as the API lists and shows them. */
export function personGroupResource(db: Kysely<Schema>) {
  const toJson = ({ id, name }: PersonGroupRecord) => ({ id, name })
  return { db, list: PERSON_GROUP_LIST, item: personGroupSchema, toJson }
}

/** Reading the groups that the identity provider keeps. */
export function personGroupRoutes(db: Kysely<Schema>): ApiRoute[] {
  const access = { tags: ['Person groups'], permission: null } as const
  const groups = personGroupResource(db)
  return [
    listRecords(groups, { ...access, path: '/person_groups', summary: 'List person groups' }),
    showRecord(groups, { ...access, path: '/person_groups/:id', summary: 'Show a person group' }),
    listRecords(personResource(db), {
      ...access,
      path: '/person_groups/:id/people',
      summary: 'List the people of a group',
      scope: async ({ id }) => isInGroup((await PERSON_GROUP_LIST.get(db, id)).id),
    }),
  ]
}
