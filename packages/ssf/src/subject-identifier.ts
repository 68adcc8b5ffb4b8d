// Subject identifiers of RFC 9493 section 3.2 and SSF 1.0 sections 3.3 to 3.5: types, exact
// validation and matching. Which identifier an event should carry is not decided here.
import { z } from 'zod'
import { isDeepEqual } from './deep-equal.ts'
import { parseWithSchema, type ParseResult } from './parse-result.ts'

const text = z.string().min(1).max(2048)
const absoluteUri = text.regex(/^[A-Za-z][A-Za-z0-9+.-]*:\S+$/, 'must be an absolute URI')

const plainSubjectSchemas = [
  z.strictObject({
    format: z.literal('account'),
    uri: text.regex(/^acct:[^@\s]+@[^@\s]+$/i, 'must be an acct URI'),
  }),
  z.strictObject({
    format: z.literal('email'),
    email: text.regex(/^[^@\s]+@[^@\s]+$/, 'must be an email address'),
  }),
  z.strictObject({ format: z.literal('iss_sub'), iss: text, sub: text }),
  z.strictObject({ format: z.literal('opaque'), id: text }),
  z.strictObject({
    format: z.literal('phone_number'),
    phone_number: text.regex(/^\+[0-9]{1,15}$/, 'must be an E.164 number'),
  }),
  z.strictObject({
    format: z.literal('did'),
    url: text.regex(/^did:[a-z0-9]+:\S+$/, 'must be a DID URL'),
  }),
  z.strictObject({ format: z.literal('uri'), uri: absoluteUri }),
  z.strictObject({ format: z.literal('jwt_id'), iss: text, jti: text }),
  z.strictObject({ format: z.literal('saml_assertion_id'), issuer: text, assertion_id: text }),
  z.strictObject({
    format: z.literal('ip-addresses'),
    'ip-addresses': z.array(text.max(64)).min(1).max(100),
  }),
] as const

const plainSubjectSchema = z.discriminatedUnion('format', plainSubjectSchemas)

const aliasesSubjectSchema = z.strictObject({
  format: z.literal('aliases'),
  identifiers: z.array(z.preprocess(withRegisteredFormat, plainSubjectSchema)).min(1).max(100),
})

const simpleSubjectSchema = z.discriminatedUnion('format', [
  ...plainSubjectSchemas,
  aliasesSubjectSchema,
])

const COMPLEX_MEMBERS_MAX = 20

const complexSubjectSchema = z
  .object({ format: z.literal('complex') })
  .catchall(z.preprocess(withRegisteredFormat, simpleSubjectSchema))
  .refine((subject) => Object.keys(subject).length > 1, 'a complex subject needs a member')
  .refine(
    (subject) => Object.keys(subject).length <= COMPLEX_MEMBERS_MAX + 1,
    `a complex subject has at most ${COMPLEX_MEMBERS_MAX} members`,
  )

/** One identifier that stands alone: the formats of RFC 9493 but `aliases`, and those of SSF. */
export type PlainSubject = z.infer<typeof plainSubjectSchema>

/** Several identifiers of one and the same subject; never nested. RFC 9493 section 3.2.8. */
export interface AliasesSubject {
  readonly format: 'aliases'
  readonly identifiers: readonly PlainSubject[]
}

/** A subject that is not complex. SSF 1.0 section 3.2. */
export type SimpleSubject = PlainSubject | AliasesSubject

/**
 * A subject described by several members that all name the same principal; the registered members
 * are listed, others are allowed. SSF 1.0 section 3.3.
 */
export interface ComplexSubject {
  readonly format: 'complex'
  readonly user?: SimpleSubject
  readonly device?: SimpleSubject
  readonly session?: SimpleSubject
  readonly application?: SimpleSubject
  readonly tenant?: SimpleSubject
  readonly org_unit?: SimpleSubject
  readonly group?: SimpleSubject
  readonly [member: string]: SimpleSubject | 'complex' | undefined
}

/** Every subject identifier that can stand in `sub_id`. */
export type SubjectIdentifier = SimpleSubject | ComplexSubject

/** The `format` words that are understood. */
export const SUBJECT_FORMATS = [
  ...plainSubjectSchemas.map((schema) => schema.shape.format.value),
  'aliases',
  'complex',
] as const

/**
 * Parses a subject identifier: known format, exactly the members of that format, each present and
 * not empty (RFC 9493 section 3). The name `phone`, which one example of SSF 1.0 uses, is read as
 * `phone_number` with its value in either member; it is never written.
 */
export function parseSubjectIdentifier(input: unknown): ParseResult<SubjectIdentifier> {
  const value = withRegisteredFormat(input)
  if (formatOf(value) === 'complex') {
    return parseWithSchema<SubjectIdentifier>(complexSubjectSchema, value)
  }
  return parseWithSchema<SubjectIdentifier>(simpleSubjectSchema, value)
}

/**
 * Tells whether two subjects match: simple subjects when identical; complex subjects when every
 * member is absent on one side or identical on both; a simple and a complex subject never.
 * Members that both sides lack do not count, so disjoint complex subjects match. SSF 1.0
 * section 8.1.3.1.
 */
export function isSubjectMatch(left: SubjectIdentifier, right: SubjectIdentifier): boolean {
  if (left.format !== 'complex' || right.format !== 'complex') return isDeepEqual(left, right)
  const leftMembers = new Map(Object.entries(left))
  return Object.entries(right).every(([name, member]) => {
    const other = leftMembers.get(name)
    return other === undefined || member === undefined || isDeepEqual(other, member)
  })
}

function formatOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('format' in value)) return undefined
  return value.format
}

/** Renames the unregistered format `phone`; everything else stays as it is. */
function withRegisteredFormat(value: unknown): unknown {
  if (formatOf(value) !== 'phone' || typeof value !== 'object') return value
  const { phone, ...members } = value as Record<string, unknown>
  const renamed = { ...members, format: 'phone_number' }
  return phone === undefined ? renamed : { ...renamed, phone_number: phone }
}
