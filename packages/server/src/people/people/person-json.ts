import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { linkTo } from '../../platform/http/expand.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import { PERSON_LIST, type PersonRecord } from './person-read.ts'

const personShape = {
  id: z.string(),
  name: z.string(),
  email: z.string(),
  created_at: timestampSchema,
  last_authenticated_at: timestampSchema.nullable(),
  has_registered_device: z.boolean(),
} as const

/** A person on the wire. */
export const personSchema = z
  .object({
    ...personShape,
    usernames: z.array(z.string()).describe('What the identity provider signs the person in by.'),
  })
  .meta({ id: 'Person' })

/** A link to a person. */
export const personLinkSchema = linkTo(personSchema, 'PersonLink')

/** The collection in which a person is found; those who are deprovisioned have one of their own. */
export function collectionOfPerson(isDeprovisioned: boolean): string {
  return isDeprovisioned ? 'deprovisioned_people' : 'people'
}

/** A deprovisioned person on the wire. */
export const deprovisionedPersonSchema = z
  .object({
    ...personShape,
    api_url: z.string().describe('The address of this record.'),
  })
  .meta({ id: 'DeprovisionedPerson' })

/** The wire form of a person. */
export function toPersonJson(person: PersonRecord) {
  return toWire(personSchema, person)
}

/** The wire form of a deprovisioned person. */
export function toDeprovisionedPersonJson(baseUrl: string, person: PersonRecord) {
  return toWire(deprovisionedPersonSchema, person, {
    api_url: `${baseUrl}/${collectionOfPerson(true)}/${person.id}`,
  })
}

/** People as the API lists and shows them. */
export function personResource(db: Kysely<Schema>) {
  return { db, list: PERSON_LIST, item: personSchema, toJson: toPersonJson }
}
