/*
 * A group of people as a SCIM group (RFC 7643 section 4.2): from the attributes of a request to the
 * columns of a group, and back. Pure.
 */
import type { ScimAttributes } from './read-resource.ts'
import { badRequest } from './scim-error.ts'
import type { StoredRecord } from '../../schema/define-table.ts'
import { GROUP_SCHEMA } from './scim-schema.ts'

export type PersonGroup = StoredRecord<'person_group'>

/** What an identity provider says of a group, without its members. */
export interface ProvisionedGroup {
  readonly name: string
  readonly externalId: string | null
}

const NAME_LENGTH_MAX = 256

/**
 * Makes sense of the attributes of a group.
 *
 * @throws ScimError `invalidValue`
 */
export function toProvisionedGroup(attributes: ScimAttributes): ProvisionedGroup {
  const { displayName: name, externalId } = attributes
  if (typeof name !== 'string') throw badRequest('invalidValue', '"displayName" is required.')
  if (name.length > NAME_LENGTH_MAX) {
    throw badRequest('invalidValue', `"displayName" has at most ${NAME_LENGTH_MAX} characters.`)
  }
  return { name, externalId: typeof externalId === 'string' ? externalId : null }
}

/** The attributes of a group that PATCH changes, without its members. */
export function toGroupAttributes(group: PersonGroup): ScimAttributes {
  return {
    displayName: group.name,
    ...(group.externalId === null ? {} : { externalId: group.externalId }),
  }
}

/**
 * The ids of the users in a list of members; each once, in the order of the list.
 *
 * @throws ScimError `invalidValue` for a member that is no user
 */
export function toMemberIds(members: unknown): string[] {
  const values = Array.isArray(members) ? (members as ScimAttributes[]) : []
  return [...new Set(values.map(toMemberId))]
}

const ID_PATTERN = /^[1-9]\d{0,17}$/

/** The address of a user, as answers have it; its last part is the id. */
const USER_REFERENCE = /(?:^|\/)Users\/([^/?#]+)$/

function toMemberId({ value: given, $ref: reference, type }: ScimAttributes): string {
  if (typeof type === 'string' && type.toLowerCase() !== 'user') {
    throw badRequest('invalidValue', 'Only users can be members of a group.')
  }
  const referred = typeof reference === 'string' ? USER_REFERENCE.exec(reference)?.[1] : undefined
  const value = given ?? referred
  if (referred !== undefined && value !== referred) {
    throw badRequest('invalidValue', 'The "value" and the "$ref" of a member name different users.')
  }
  if (typeof value === 'string' && ID_PATTERN.test(value)) return value
  throw badRequest(
    'invalidValue',
    typeof value === 'string'
      ? `There is no user ${value.slice(0, 100)}.`
      : 'Each of "members" needs the id of a user as its "value", or the address of one as its "$ref".',
  )
}

/** A user who belongs to a group. */
export interface GroupMember {
  readonly id: string
  readonly name: string
}

/** The wire form of a group; `members` are left out when they were not read. */
export function toGroupJson(
  scimUrl: string,
  group: PersonGroup,
  members: readonly GroupMember[] | undefined,
): ScimAttributes {
  return {
    schemas: [GROUP_SCHEMA],
    id: group.id,
    ...toGroupAttributes(group),
    ...(members === undefined
      ? {}
      : {
          members: members.map(({ id, name }) => ({
            value: id,
            $ref: `${scimUrl}/Users/${id}`,
            display: name,
            type: 'User',
          })),
        }),
    meta: {
      resourceType: 'Group',
      created: group.createdAt.toISOString(),
      lastModified: group.updatedAt.toISOString(),
      location: `${scimUrl}/Groups/${group.id}`,
      version: groupVersion(group),
    },
  }
}

/** A weak entity tag: the names of members may change without it. */
export function groupVersion(group: PersonGroup): string {
  return `W/"${group.revision}"`
}
