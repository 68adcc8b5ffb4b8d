/*
 * A person as a SCIM user (RFC 7643 section 4.1): from the attributes of a request to the columns of a
 * person, and back. Pure; who may have which values is decided in provision-user.ts.
 */
import { createHash } from 'node:crypto'
import type { PersonEmail } from '../../schema/tables/person-tables.ts'
import { EMAIL_LENGTH_MAX, isEmail } from '../../platform/parse-text.ts'
import type { Person } from '../people/person-store.ts'
import { isObject, type ScimAttributes } from './read-resource.ts'
import { badRequest } from './scim-error.ts'
import { USER_SCHEMA } from './scim-schema.ts'

/** The columns of a person that an identity provider decides. */
export const PROVISIONED_COLUMNS = [
  'name',
  'email',
  'userName',
  'externalId',
  'displayName',
  'formattedName',
  'givenName',
  'familyName',
  'emails',
] as const satisfies (keyof Person)[]

/** What an identity provider says of a person. */
export interface ProvisionedPerson {
  /** `emails` is null when the email address of the person is the only one. */
  readonly columns: Pick<Person, (typeof PROVISIONED_COLUMNS)[number]> & {
    readonly userName: string
  }
  /** Undefined when the request does not say. */
  readonly active: boolean | undefined
}

const EMAILS_MAX = 20
const NAME_LENGTH_MAX = 200

/**
 * Makes sense of the attributes of a user.
 *
 * @throws ScimError `invalidValue` without a user name, or with a malformed email address
 */
export function toProvisionedPerson(attributes: ScimAttributes): ProvisionedPerson {
  const userName = textOf(attributes, 'userName')
  if (userName === null) throw badRequest('invalidValue', '"userName" is required.')
  const name = isObject(attributes['name']) ? attributes['name'] : {}
  const emails = toEmails(attributes['emails'])
  const parts = {
    displayName: textOf(attributes, 'displayName'),
    formattedName: textOf(name, 'formatted'),
    givenName: textOf(name, 'givenName'),
    familyName: textOf(name, 'familyName'),
  }
  return {
    columns: {
      ...parts,
      userName,
      externalId: textOf(attributes, 'externalId'),
      emails: emails.length === 0 ? null : emails,
      email: chooseEmail(emails, userName),
      name: chooseName(parts, userName),
    },
    active: typeof attributes['active'] === 'boolean' ? attributes['active'] : undefined,
  }
}

function textOf(object: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = object[name]
  return typeof value === 'string' ? value : null
}

function toEmails(value: unknown): PersonEmail[] {
  const items = Array.isArray(value) ? value.filter(isObject) : []
  if (items.length > EMAILS_MAX) {
    throw badRequest('invalidValue', `A user has at most ${EMAILS_MAX} emails.`)
  }
  const primary = items.find((item) => item['primary'] === true)
  return items.map((item) => {
    const address = textOf(item, 'value') ?? ''
    if (!isEmail(address)) {
      throw badRequest('invalidValue', '"emails.value" must be an email address.')
    }
    const display = textOf(item, 'display')
    const type = textOf(item, 'type')
    return {
      value: address,
      ...(type === null ? {} : { type }),
      ...(display === null ? {} : { display }),
      // At most one is the primary one; RFC 7643 section 2.4.
      ...(typeof item['primary'] === 'boolean' ? { primary: item === primary } : {}),
    }
  })
}

/**
 * The address that identifies the person: the primary one, one for work, the first. The user name stands in
 * for it where there is none, whether or not it is an address itself.
 */
function chooseEmail(emails: readonly PersonEmail[], userName: string): string {
  const chosen =
    emails.find(({ primary }) => primary === true) ??
    emails.find(({ type }) => type?.toLowerCase() === 'work') ??
    emails[0]
  if (chosen !== undefined) return chosen.value
  if (userName.length <= EMAIL_LENGTH_MAX) return userName
  throw badRequest(
    'invalidValue',
    `Without "emails", "userName" has at most ${EMAIL_LENGTH_MAX} characters.`,
  )
}

/** The name that the service shows. */
function chooseName(
  parts: Pick<Person, 'displayName' | 'formattedName' | 'givenName' | 'familyName'>,
  userName: string,
): string {
  const joined = [parts.givenName, parts.familyName].filter((part) => part !== null).join(' ')
  const name = parts.displayName ?? parts.formattedName ?? (joined === '' ? userName : joined)
  if (name.length <= NAME_LENGTH_MAX) return name
  throw badRequest('invalidValue', `The name of a user has at most ${NAME_LENGTH_MAX} characters.`)
}

/**
 * The attributes of a person that PATCH changes; a name that the service chose itself is not among them.
 * An email address that is no more than the user name is left out unless it is asked for, so that it
 * follows the user name.
 */
export function toUserAttributes(person: Person, isAboutEmails: boolean): ScimAttributes {
  const isUnmanaged = person.userName === null
  return withoutNull({
    userName: person.userName ?? person.email,
    externalId: person.externalId,
    displayName: isUnmanaged ? person.name : person.displayName,
    name: toNameJson(person),
    emails: isAboutEmails || isUnmanaged ? emailsOf(person) : person.emails,
    active: person.deprovisionedAt === null,
  })
}

/** A group that a person belongs to. */
export interface UserGroup {
  readonly id: string
  readonly name: string
}

/** The wire form of a user. */
export function toUserJson(
  scimUrl: string,
  person: Person,
  groups: readonly UserGroup[],
): ScimAttributes {
  const user = withoutNull({
    schemas: [USER_SCHEMA],
    id: person.id,
    externalId: person.externalId,
    userName: person.userName ?? person.email,
    name: toNameJson(person),
    displayName: person.userName === null ? person.name : person.displayName,
    emails: emailsOf(person),
    active: person.deprovisionedAt === null,
    groups: groups.map((group) => ({
      value: group.id,
      $ref: `${scimUrl}/Groups/${group.id}`,
      display: group.name,
      type: 'direct',
    })),
  })
  return {
    ...user,
    meta: {
      resourceType: 'User',
      created: person.createdAt.toISOString(),
      lastModified: person.updatedAt.toISOString(),
      location: `${scimUrl}/Users/${person.id}`,
      version: toVersion(user),
    },
  }
}

/** A weak entity tag over what the resource says. */
function toVersion(user: ScimAttributes): string {
  const hash = createHash('sha256').update(JSON.stringify(user)).digest('base64url')
  return `W/"${hash.slice(0, 22)}"`
}

/** Null for a person who has a user name and no address. */
function emailsOf(person: Person): PersonEmail[] | null {
  if (person.emails !== null) return person.emails
  return isEmail(person.email) ? [{ value: person.email, type: 'work', primary: true }] : null
}

function toNameJson(person: Person): ScimAttributes | null {
  const name = withoutNull({
    formatted: person.formattedName,
    familyName: person.familyName,
    givenName: person.givenName,
  })
  return Object.keys(name).length === 0 ? null : name
}

function withoutNull(object: ScimAttributes): ScimAttributes {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))
}
