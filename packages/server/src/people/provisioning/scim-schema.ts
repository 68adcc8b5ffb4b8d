/*
 * What users and groups consist of over SCIM (RFC 7643): the one description that requests are read by,
 * filters are bound to, patches are resolved with and `/Schemas` shows. Attributes of the standard that
 * the service has no use for are taken and dropped: it keeps no data of people that it does not need.
 */

export type ScimAttributeType = 'string' | 'boolean' | 'dateTime' | 'reference' | 'complex'

/** An attribute as RFC 7643 section 7 describes one. */
export interface ScimAttribute {
  readonly name: string
  readonly type: ScimAttributeType
  readonly multiValued: boolean
  readonly description: string
  readonly required: boolean
  readonly caseExact: boolean
  readonly mutability: 'readWrite' | 'readOnly' | 'immutable'
  readonly returned: 'default' | 'always'
  readonly uniqueness: 'none' | 'server'
  readonly canonicalValues?: readonly string[]
  readonly referenceTypes?: readonly string[]
  readonly subAttributes?: readonly ScimAttribute[]
}

export interface ScimResourceType {
  readonly name: 'User' | 'Group'
  readonly endpoint: string
  readonly description: string
  readonly schema: string
  /** Its own attributes and the common ones of RFC 7643 section 3.1. */
  readonly attributes: readonly ScimAttribute[]
  /** Attributes of the standard that are taken and dropped, in lower case. */
  readonly ignoredAttributes: ReadonlySet<string>
  /** Extensions that are taken and dropped, in lower case. */
  readonly ignoredSchemas: ReadonlySet<string>
}

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const LIST_RESPONSE_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
export const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
export const SEARCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest'
export const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error'

const ENTERPRISE_USER_SCHEMA = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

function attribute(
  name: string,
  description: string,
  options: Partial<ScimAttribute> = {},
): ScimAttribute {
  return {
    name,
    type: 'string',
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...options,
  }
}

const READ_ONLY = { mutability: 'readOnly' } as const
const EXACT = { caseExact: true } as const

/** The attributes of every resource; RFC 7643 section 3.1. They are in no schema. */
export const COMMON_ATTRIBUTES: readonly ScimAttribute[] = [
  attribute('id', 'The id that this service gave the resource.', {
    ...READ_ONLY,
    ...EXACT,
    returned: 'always',
    uniqueness: 'server',
  }),
  attribute('externalId', 'The id that the provisioning client gave the resource.', EXACT),
  attribute('meta', 'About the resource.', {
    ...READ_ONLY,
    type: 'complex',
    subAttributes: [
      attribute('resourceType', 'The kind of the resource.', { ...READ_ONLY, ...EXACT }),
      attribute('created', 'When it was made.', { ...READ_ONLY, type: 'dateTime' }),
      attribute('lastModified', 'When it last changed.', { ...READ_ONLY, type: 'dateTime' }),
      attribute('location', 'Its address.', { ...READ_ONLY, ...EXACT, type: 'reference' }),
      attribute('version', 'Its weak entity tag.', { ...READ_ONLY, ...EXACT }),
    ],
  }),
]

/** The attributes of a user beside the common ones. */
export const USER_ATTRIBUTES: readonly ScimAttribute[] = [
  attribute('userName', 'What the person signs in by.', { required: true, uniqueness: 'server' }),
  attribute('name', 'The parts of the name.', {
    type: 'complex',
    subAttributes: [
      attribute('formatted', 'The whole name as it is shown.'),
      attribute('familyName', 'The family name.'),
      attribute('givenName', 'The given name.'),
    ],
  }),
  attribute('displayName', 'The name that the service shows.'),
  attribute('emails', 'Email addresses. The primary one identifies the person.', {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      attribute('value', 'The email address.'),
      attribute('display', 'How the address is shown.'),
      attribute('type', 'What the address is for.', { canonicalValues: ['work', 'home', 'other'] }),
      attribute('primary', 'Whether it is the preferred address.', { type: 'boolean' }),
    ],
  }),
  attribute(
    'active',
    'False deprovisions the person, true restores them. A new person is active.',
    {
      type: 'boolean',
      required: true,
    },
  ),
  attribute('groups', 'The groups that the person belongs to.', {
    ...READ_ONLY,
    type: 'complex',
    multiValued: true,
    subAttributes: [
      attribute('value', 'The id of the group.', { ...READ_ONLY, ...EXACT }),
      attribute('$ref', 'The address of the group.', {
        ...READ_ONLY,
        ...EXACT,
        type: 'reference',
        referenceTypes: ['Group'],
      }),
      attribute('display', 'The name of the group.', READ_ONLY),
      attribute('type', 'How the person belongs to the group.', {
        ...READ_ONLY,
        canonicalValues: ['direct'],
      }),
    ],
  }),
]

/** The attributes of a group beside the common ones. */
export const GROUP_ATTRIBUTES: readonly ScimAttribute[] = [
  attribute('displayName', 'The name of the group.', { required: true, uniqueness: 'server' }),
  attribute('members', 'The people in the group.', {
    type: 'complex',
    multiValued: true,
    subAttributes: [
      attribute('value', 'The id of the user.', { ...EXACT, mutability: 'immutable' }),
      attribute('$ref', 'The address of the user; stands in for `value` in a request.', {
        ...EXACT,
        mutability: 'immutable',
        type: 'reference',
        referenceTypes: ['User'],
      }),
      attribute('display', 'The name of the user.', READ_ONLY),
      attribute('type', 'The kind of the member.', {
        mutability: 'immutable',
        canonicalValues: ['User'],
      }),
    ],
  }),
]

export const USER_TYPE: ScimResourceType = {
  name: 'User',
  endpoint: '/Users',
  description: 'A person.',
  schema: USER_SCHEMA,
  attributes: [...COMMON_ATTRIBUTES, ...USER_ATTRIBUTES],
  // RFC 7643 section 4.1.
  ignoredAttributes: new Set([
    'nickname',
    'profileurl',
    'title',
    'usertype',
    'preferredlanguage',
    'locale',
    'timezone',
    'password',
    'phonenumbers',
    'ims',
    'photos',
    'addresses',
    'entitlements',
    'roles',
    'x509certificates',
  ]),
  ignoredSchemas: new Set([ENTERPRISE_USER_SCHEMA.toLowerCase()]),
}

export const GROUP_TYPE: ScimResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  description: 'A group of people.',
  schema: GROUP_SCHEMA,
  attributes: [...COMMON_ATTRIBUTES, ...GROUP_ATTRIBUTES],
  ignoredAttributes: new Set(),
  ignoredSchemas: new Set(),
}

/** The attribute of this name; names are compared in any case (RFC 7643 section 2.1). */
export function findAttribute(
  attributes: readonly ScimAttribute[],
  name: string,
): ScimAttribute | undefined {
  const wanted = name.toLowerCase()
  return attributes.find((candidate) => candidate.name.toLowerCase() === wanted)
}
