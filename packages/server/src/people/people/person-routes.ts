import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { listRecords, showRecord, type ApiRoute } from '../../schema/operations.ts'
import { isGroupOf } from './person-group-read.ts'
import { personGroupResource } from './person-group-routes.ts'
import { personResource } from './person-json.ts'
import { PERSON_LIST } from './person-read.ts'

/** Reading people and the groups of one. */
export function personRoutes(db: Kysely<Schema>): ApiRoute[] {
  const access = { tags: ['People'], permission: null } as const
  const people = personResource(db)
  return [
    listRecords(people, { ...access, path: '/people', summary: 'List people' }),
    showRecord(people, { ...access, path: '/people/:id', summary: 'Show a person' }),
    listRecords(personGroupResource(db), {
      ...access,
      path: '/people/:id/person_groups',
      summary: 'List the groups of a person',
      scope: async ({ id }) => isGroupOf((await PERSON_LIST.get(db, id)).id),
    }),
  ]
}
