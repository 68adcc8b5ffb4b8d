import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import { STREAM_PROFILE_NAMES } from '../streams/stream-choices.ts'
import { SSF_SCOPES } from './client-scopes.ts'
import type { SsfClient, SsfClientSecret } from './client-store.ts'

const clientSecretSchema = z.object({
  last_four: z.string(),
  created_at: timestampSchema,
  expires_at: timestampSchema.nullable(),
})

/** A client as the REST API shows it. */
export const clientSchema = z
  .object({
    id: z.string(),
    client_id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(SSF_SCOPES)),
    audience: z
      .string()
      .nullable()
      .describe('The audience of the events of its streams; its client id when null.'),
    default_subjects: z
      .enum(['ALL', 'NONE'])
      .nullable()
      .describe('Which subjects its new streams begin with; what the service is set to when null.'),
    profile: z
      .enum(STREAM_PROFILE_NAMES)
      .describe('The profile that its new streams begin with. Streams that are there keep theirs.'),
    authentication_method: z
      .enum(['client_secret', 'private_key_jwt'])
      .describe('How it authenticates: with a secret, or with assertions that it signs.'),
    jwks: z
      .object({ keys: z.array(z.record(z.string(), z.unknown())) })
      .nullable()
      .describe('The public keys of a client that signs; null for one with a secret.'),
    secrets: z.array(clientSecretSchema),
    created_at: timestampSchema,
    updated_at: timestampSchema,
    last_used_at: timestampSchema.nullable(),
    revoked_at: timestampSchema.nullable(),
  })
  .meta({ id: 'SsfClient', description: 'An OAuth client of the standard Shared Signals surface.' })

/** A client with the secret that it has just been given. */
export const issuedClientSchema = clientSchema
  .extend({
    client_secret: z
      .string()
      .nullable()
      .describe('Shown this once; null for a client with keys of its own.'),
    token_endpoint: z.string().describe('Where it gets access tokens.'),
  })
  .meta({ id: 'IssuedSsfClient', description: 'A client with its new secret.' })

/** The wire form of a client. Of its secrets only what tells them apart. */
export function toClientJson(client: SsfClient, secrets: readonly SsfClientSecret[]) {
  return toWire(clientSchema, client, {
    jwks: client.jwks === null ? null : { keys: [...client.jwks.keys] },
    secrets: secrets.map((secret) => toWire(clientSecretSchema, secret)),
  })
}
