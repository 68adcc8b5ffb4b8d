import { z } from 'zod'
import { caepPayload, type CaepCommonMembers } from './common-members.ts'

/** The registered credential types; others are allowed by agreement. CAEP 1.0 section 3.3. */
export const CREDENTIAL_TYPES = [
  'password',
  'pin',
  'x509',
  'fido2-platform',
  'fido2-roaming',
  'fido-u2f',
  'verifiable-credential',
  'phone-voice',
  'phone-sms',
  'app',
] as const

const CHANGE_TYPES = ['create', 'revoke', 'update', 'delete'] as const

/** Payload of a credential-change event. CAEP 1.0 section 3.3. */
export interface CredentialChange extends CaepCommonMembers {
  /** One of {@link CREDENTIAL_TYPES} or an agreed word. */
  readonly credential_type: string
  readonly change_type: (typeof CHANGE_TYPES)[number]
  readonly friendly_name?: string
  readonly x509_issuer?: string
  readonly x509_serial?: string
  readonly fido2_aaguid?: string
}

/** Validates a credential-change payload; unknown members are kept. */
export const credentialChangeSchema = caepPayload({
  credential_type: z.string().min(1),
  change_type: z.enum(CHANGE_TYPES),
  friendly_name: z.string().exactOptional(),
  x509_issuer: z.string().exactOptional(),
  x509_serial: z.string().exactOptional(),
  fido2_aaguid: z.string().exactOptional(),
})

/** Payload of a token-claims-change event. CAEP 1.0 section 3.2. */
export interface TokenClaimsChange extends CaepCommonMembers {
  /** The changed claims with their new values. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** Validates a token-claims-change payload; unknown members are kept. */
export const tokenClaimsChangeSchema = caepPayload({
  claims: z.record(z.string(), z.unknown()),
})
