import type { Generated } from 'kysely'
import type { DefaultBigCount, Id, Json } from './column-types.ts'

/** An email address of a person as an identity provider describes it. */
export interface PersonEmail {
  value: string
  type?: string
  display?: string
  primary?: boolean
}

/** These tables by their names. */
export interface PersonTables {
  person: {
    id: Id
    name: string
    email: string
    usernames: Generated<string[]>
    last_authenticated_at: Date | null
    deprovisioned_at: Date | null
    user_name: string | null
    external_id: string | null
    display_name: string | null
    formatted_name: string | null
    given_name: string | null
    family_name: string | null
    emails: Json<PersonEmail[] | null> | null
    provisioning_ended_at: Date | null
    first_device_trusted_at: Date | null
    created_at: Date
    updated_at: Date
  }
  person_group: {
    id: Id
    name: string
    external_id: string | null
    revision: DefaultBigCount
    created_at: Date
    updated_at: Date
  }
  person_group_member: {
    person_group_id: string
    person_id: string
    added_at: Date
  }
}
