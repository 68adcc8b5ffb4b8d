import { z } from 'zod'
import { parseWithSchema, type ParseResult } from './parse-result.ts'

/** The value of `spec_version` for SSF 1.0 Final. SSF 1.0 section 7.1. */
export const SSF_SPEC_VERSION = '1_0'

/** OAuth 2.0 as an authorization scheme. SSF 1.0 section 7.1.1. */
export const AUTHORIZATION_SCHEME_OAUTH2 = 'urn:ietf:rfc:6749'

/** Bearer tokens as an authorization scheme. SSF 1.0 section 7.1.1. */
export const AUTHORIZATION_SCHEME_BEARER = 'urn:ietf:rfc:6750'

/** The discovery document of a transmitter. SSF 1.0 section 7.1. */
export interface TransmitterConfiguration {
  readonly spec_version?: string
  readonly issuer: string
  readonly jwks_uri?: string
  readonly delivery_methods_supported?: readonly string[]
  readonly configuration_endpoint?: string
  readonly status_endpoint?: string
  readonly add_subject_endpoint?: string
  readonly remove_subject_endpoint?: string
  readonly verification_endpoint?: string
  readonly critical_subject_members?: readonly string[]
  readonly authorization_schemes?: readonly { readonly spec_urn: string }[]
  readonly default_subjects?: 'ALL' | 'NONE'
  readonly [member: string]: unknown
}

const urlSchema = z.string().min(1).max(2048)

const transmitterConfigurationSchema = z.preprocess(
  withoutNullMembers,
  z.looseObject({
    spec_version: z.string().exactOptional(),
    issuer: urlSchema,
    jwks_uri: urlSchema.exactOptional(),
    delivery_methods_supported: z.array(z.string()).exactOptional(),
    configuration_endpoint: urlSchema.exactOptional(),
    status_endpoint: urlSchema.exactOptional(),
    add_subject_endpoint: urlSchema.exactOptional(),
    remove_subject_endpoint: urlSchema.exactOptional(),
    verification_endpoint: urlSchema.exactOptional(),
    critical_subject_members: z.array(z.string()).exactOptional(),
    authorization_schemes: z.array(z.looseObject({ spec_urn: z.string() })).exactOptional(),
    default_subjects: z.enum(['ALL', 'NONE']).exactOptional(),
  }),
)

/**
 * Parses a discovery document; unknown members are kept, null ones count as absent. SSF 1.0
 * section 7.2.3.
 */
export function parseTransmitterConfiguration(
  body: unknown,
): ParseResult<TransmitterConfiguration> {
  return parseWithSchema<TransmitterConfiguration>(transmitterConfigurationSchema, body)
}

function withoutNullMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
}

const ISSUER = /^(https?:\/\/[^\s/?#]+)(\/[^\s?#]*)?$/i

/**
 * The URL of the discovery document of an issuer: the well-known part goes between host and path,
 * after a trailing slash of the path is dropped. SSF 1.0 section 7.2.1.
 *
 * @throws RangeError when the issuer is no HTTP URL, or has a query or a fragment.
 */
export function wellKnownConfigurationUrl(issuer: string): string {
  const match = ISSUER.exec(issuer)
  if (match?.[1] === undefined) throw new RangeError('the issuer must be a URL without query')
  const path = (match[2] ?? '').replace(/\/$/, '')
  return `${match[1]}/.well-known/ssf-configuration${path}`
}

/**
 * Where some transmitters publish the discovery document of an issuer with a path instead: the
 * well-known part is appended to the path. Undefined when that is the same URL.
 *
 * @throws RangeError when the issuer is no HTTP URL, or has a query or a fragment.
 */
export function appendedConfigurationUrl(issuer: string): string | undefined {
  const inserted = wellKnownConfigurationUrl(issuer)
  const appended = `${issuer.replace(/\/$/, '')}/.well-known/ssf-configuration`
  return appended === inserted ? undefined : appended
}

/** Leaves out array members with no elements, as SSF 1.0 section 7.2.3 demands of the document. */
export function withoutEmptyArrays(document: TransmitterConfiguration): TransmitterConfiguration {
  const entries = Object.entries(document).filter(
    ([, value]) => !(Array.isArray(value) && value.length === 0),
  )
  return { ...Object.fromEntries(entries), issuer: document.issuer }
}
