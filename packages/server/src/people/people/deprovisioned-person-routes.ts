import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { listRecords, showRecord, type ApiRoute } from '../../schema/operations.ts'
import { deprovisionedPersonSchema, toDeprovisionedPersonJson } from './person-json.ts'
import { DEPROVISIONED_PERSON_LIST, type PersonRecord } from './person-read.ts'

/** Reading the records of people whom the identity provider has switched off or deleted. */
export function deprovisionedPersonRoutes(db: Kysely<Schema>, baseUrl: string): ApiRoute[] {
  const access = { tags: ['People'], permission: null } as const
  const people = {
    db,
    list: DEPROVISIONED_PERSON_LIST,
    item: deprovisionedPersonSchema,
    toJson: (person: PersonRecord) => toDeprovisionedPersonJson(baseUrl, person),
  }
  return [
    listRecords(people, {
      ...access,
      path: '/deprovisioned_people',
      summary: 'List deprovisioned people',
    }),
    showRecord(people, {
      ...access,
      path: '/deprovisioned_people/:id',
      summary: 'Show a deprovisioned person',
    }),
  ]
}
