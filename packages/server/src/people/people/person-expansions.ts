import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { LoadRecords } from '../../platform/http/expand.ts'
import { toPersonJson } from './person-json.ts'
import { listPeopleWithIds } from './person-read.ts'

/** Reads people for the links to them. */
export function loadPeople(db: Kysely<Schema>): LoadRecords {
  return async (ids) => {
    const people = await listPeopleWithIds(db, ids)
    return new Map(people.map((person) => [person.id, toPersonJson(person)]))
  }
}
