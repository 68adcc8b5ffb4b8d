import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import type { SignInApplication } from './application-store.ts'

/** An application as the API shows it. */
export const applicationSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: z.enum(['oidc', 'entra', 'forward_auth']),
    mode: z.enum(['step_up', 'broker']),
    issuer: z
      .string()
      .describe(
        'What the application takes this service for; append `/.well-known/openid-configuration`.',
      ),
    client_id: z.string(),
    token_endpoint_auth_method: z.enum([
      'client_secret_basic',
      'client_secret_post',
      'private_key_jwt',
      'none',
    ]),
    redirect_uris: z.array(z.string()),
    post_logout_redirect_uris: z.array(z.string()),
    jwks: z.object({ keys: z.array(z.record(z.string(), z.unknown())) }).nullable(),
    jwks_uri: z.string().nullable(),
    backchannel_logout_uri: z.string().nullable(),
    upstream_provider_id: z.string().nullable(),
    minimum_assurance: z.enum(['hardware', 'live', 'approved', 'key']),
    serial_claimed: z.boolean(),
    claims_profile: z.enum(['standard', 'okta']),
    entra_tenant_id: z.string().nullable(),
    entra_app_id: z.string().nullable(),
    entra_cloud: z.enum(['global', 'us_government', 'china']).nullable(),
    hosts: z.array(z.string()),
    session_seconds: z.int(),
    enabled: z.boolean(),
    created_at: timestampSchema,
    updated_at: timestampSchema,
  })
  .meta({ id: 'SignInApplication', description: 'Who sends people here to sign in.' })

/** An application with the secret that it has just been given. */
export const issuedApplicationSchema = applicationSchema
  .extend({
    client_secret: z.string().nullable().describe('Shown this once; null where there is none.'),
  })
  .meta({ id: 'IssuedSignInApplication', description: 'An application with its new secret.' })

/** The wire form of an application, without its secret. */
export function toApplicationJson(baseUrl: string, application: SignInApplication) {
  return toWire(applicationSchema, application, {
    issuer: application.kind === 'entra' ? `${baseUrl}/sign-in/entra` : `${baseUrl}/sign-in`,
    jwks: application.jwks === null ? null : { keys: [...application.jwks.keys] },
    serial_claimed: application.isSerialClaimed,
    enabled: application.isEnabled,
  })
}
