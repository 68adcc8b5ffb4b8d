/*
 * How the service shows a receiver who it is, beside a fixed header: an OAuth access token or a client
 * certificate. Owns what may be asked for and what may be shown; secrets go in and never come out.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { z } from 'zod'
import type { ErrorDetail } from '../../platform/app-error.ts'
import type { PushAuthenticationFacts } from '../../schema/tables/ssf-stream-tables.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import { createTrustContext, readCertificates } from '../../platform/net/trust.ts'

export const OAUTH_METHODS = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const

export type OAuthMethod = (typeof OAUTH_METHODS)[number]

const TEXT_LENGTH_MAX = 1_024
const URL_LENGTH_MAX = 2_048
const PEM_LENGTH_MAX = 65_536

/** What OAuth identifiers, secrets and scopes consist of. RFC 6749 appendix A. */
const VISIBLE = /^[\x20-\x7e]+$/

const visibleText = z
  .string()
  .min(1, 'Must not be empty')
  .max(TEXT_LENGTH_MAX, `Must be at most ${TEXT_LENGTH_MAX} characters long`)
  .regex(VISIBLE, 'Must be printable ASCII')

const pem = z.string().max(PEM_LENGTH_MAX, `Must be at most ${PEM_LENGTH_MAX} characters long`)

const oauthSchema = z.strictObject({
  token_endpoint: z.string().trim().max(URL_LENGTH_MAX).describe('Where access tokens come from.'),
  client_id: visibleText,
  client_secret: visibleText
    .optional()
    .describe(
      'Never answered. Left out of a change, the stored one stays. Needed with another token endpoint, and with an `endpoint_url` on another host.',
    ),
  scope: visibleText.nullable().optional(),
  auth_method: z
    .enum(OAUTH_METHODS)
    .default('client_secret_basic')
    .describe('`private_key_jwt` signs with the keys of this service, as `jwks_uri` shows them.'),
})

const mtlsSchema = z.strictObject({
  certificate: pem.describe('PEM, with what chains it to its root.'),
  private_key: pem.describe('PEM, not encrypted. Never answered.'),
})

/** The members of a `delivery` that say how the service authenticates; null removes what is stored. */
export const authenticationShape = {
  oauth: oauthSchema
    .nullable()
    .describe('Push streams only: an access token by OAuth client credentials.')
    .optional(),
  mtls: mtlsSchema.nullable().describe('Push streams only: a TLS client certificate.').optional(),
  extra_ca: pem
    .nullable()
    .describe('Push streams only: PEM certificates of authorities to trust beside the usual ones.')
    .optional(),
} as const

/** What a client asks for; absent members stay as they are, null removes. */
export interface PushAuthenticationInput {
  readonly oauth?: z.output<typeof oauthSchema> | null | undefined
  readonly mtls?: z.output<typeof mtlsSchema> | null | undefined
  readonly extra_ca?: string | null | undefined
}

/** The authentication of a `delivery` as it is shown: absent where there is none. */
export const authenticationJsonShape = {
  oauth: z
    .object({
      token_endpoint: z.string(),
      client_id: z.string(),
      scope: z.string().nullable(),
      auth_method: z.enum(OAUTH_METHODS),
      client_secret_set: z.boolean(),
    })
    .nullable()
    .optional(),
  mtls: z
    .object({
      subject: z.string(),
      fingerprint_sha256: z.string(),
      not_after: timestampSchema,
      private_key_set: z.boolean(),
    })
    .nullable()
    .optional(),
  extra_ca_set: z.boolean().optional(),
} as const

/** What may be shown of stored authentication; nothing of none. */
export function toAuthenticationJson(facts: PushAuthenticationFacts | null) {
  if (facts === null) return {}
  const { oauth, mtls } = facts
  return {
    oauth:
      oauth === undefined
        ? null
        : { ...oauth, client_secret_set: oauth.auth_method !== 'private_key_jwt' },
    mtls: mtls === undefined ? null : { ...mtls, private_key_set: true },
    extra_ca_set: facts.has_extra_ca === true,
  }
}

/** What the audit log keeps of stored authentication. */
export function toAuthenticationAudit(facts: PushAuthenticationFacts | null) {
  return {
    oauth: facts?.oauth === undefined ? null : { ...facts.oauth },
    mtls: facts?.mtls === undefined ? null : { ...facts.mtls },
    extra_ca_set: facts?.has_extra_ca === true,
  }
}

/** Whether anything is asked for, be it the removal of something. */
export function isAuthenticationGiven(input: PushAuthenticationInput | undefined): boolean {
  if (input === undefined) return false
  const { oauth, mtls, extra_ca: extraCa } = input
  return oauth !== undefined || mtls !== undefined || extraCa !== undefined
}

/** Why a client certificate cannot be used with its key, member by member; nothing when it can. */
export function findCertificateProblems(
  { certificate, private_key: privateKey }: z.output<typeof mtlsSchema>,
  now: Date,
): ErrorDetail[] {
  const path = 'delivery.mtls.certificate'
  const parsed = tryTo(() => new X509Certificate(certificate))
  if (parsed === undefined) return [{ path, message: 'Is not a PEM certificate.' }]
  const key = tryTo(() => createPrivateKey(privateKey))
  if (key === undefined) {
    const message = 'Is not a PEM private key without a passphrase.'
    return [{ path: 'delivery.mtls.private_key', message }]
  }
  if (!parsed.checkPrivateKey(key)) {
    return [{ path: 'delivery.mtls.private_key', message: 'Does not belong to the certificate.' }]
  }
  if (parsed.validToDate <= now) {
    return [{ path, message: `Expired on ${parsed.validToDate.toISOString()}.` }]
  }
  if (parsed.validFromDate > now) {
    return [{ path, message: `Is not valid before ${parsed.validFromDate.toISOString()}.` }]
  }
  const isUsable = tryTo(() => createTrustContext(undefined, { certificate, privateKey }))
  return isUsable === undefined ? [{ path, message: 'Cannot be used with its key.' }] : []
}

/** Why a bundle of authorities cannot be used; nothing when it can. */
export function findAuthorityProblems(bundle: string): ErrorDetail[] {
  const certificates = tryTo(() => readCertificates(bundle))
  if (certificates !== undefined) return []
  return [{ path: 'delivery.extra_ca', message: 'Must be certificates in PEM, each readable.' }]
}

/** What is shown of a certificate that was checked before. */
export function describeCertificate(certificate: string) {
  const { subject, fingerprint256, validToDate } = new X509Certificate(certificate)
  return {
    subject: subject.replaceAll('\n', ', '),
    fingerprint_sha256: fingerprint256,
    not_after: validToDate.toISOString(),
  }
}

function tryTo<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
