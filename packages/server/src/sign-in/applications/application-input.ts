/* What the API takes as an application. */
import { z } from 'zod'
import { recordIdInput, textInput } from '../../platform/wire/body-values.ts'
import { publicJwksInput } from '../../platform/wire/public-jwks-input.ts'
import type { ApplicationEdit, ApplicationValues } from './change-application.ts'

const NAME_LENGTH_MAX = 100
const URL_LENGTH_MAX = 2_048
const URLS_MAX = 50
const SESSION_SECONDS_MIN = 60
const SESSION_SECONDS_MAX = 86_400
const SESSION_SECONDS_DEFAULT = 28_800
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}(?::\d{1,5})?$/

/** RFC 6749 section 3.1.2; RFC 8252 sections 7.1 and 7.3 for what native applications are sent to. */
const redirectUriInput = z
  .string()
  .max(URL_LENGTH_MAX)
  .refine(
    isRedirectUri,
    'Must be an HTTPS address, one of this machine, or one with a scheme of the application, without fragment',
  )

function isRedirectUri(text: string): boolean {
  if (!URL.canParse(text) || /[#\0]/.test(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  if (protocol === 'https:') return true
  if (protocol === 'http:') return LOOPBACK_HOSTS.has(hostname)
  // A domain in reverse: nobody takes somebody else's by accident.
  return /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/.test(protocol)
}

const webAddressInput = z
  .url({ protocol: /^https?$/, error: 'Must be a web address' })
  .max(URL_LENGTH_MAX)
  .refine((text) => !text.includes('\0'), 'Must be a web address')

const uuidInput = z.uuid('Must be a UUID').transform((text) => text.toLowerCase())

const shape = {
  name: textInput(NAME_LENGTH_MAX),
  mode: z
    .enum(['step_up', 'broker'])
    .describe('`step_up`: the application says who signs in. `broker`: an upstream provider does.'),
  token_endpoint_auth_method: z.enum([
    'client_secret_basic',
    'client_secret_post',
    'private_key_jwt',
    'none',
  ]),
  redirect_uris: z.array(redirectUriInput).max(URLS_MAX),
  post_logout_redirect_uris: z.array(redirectUriInput).max(URLS_MAX),
  jwks: publicJwksInput.nullable(),
  jwks_uri: webAddressInput.nullable(),
  backchannel_logout_uri: webAddressInput.nullable(),
  upstream_provider_id: recordIdInput.nullable(),
  minimum_assurance: z
    .enum(['hardware', 'live', 'approved', 'key'])
    .describe('How strongly a device must be known, the strongest first.'),
  serial_claimed: z.boolean().describe('Whether ID tokens tell the serial number of the device.'),
  claims_profile: z.enum(['standard', 'okta']),
  entra_tenant_id: uuidInput.nullable(),
  entra_app_id: uuidInput.nullable(),
  entra_cloud: z.enum(['global', 'us_government', 'china']).nullable(),
  hosts: z
    .array(z.string().regex(HOST_NAME, 'Must be a host name in lower case'))
    .max(URLS_MAX)
    .describe('Of forward authentication: where people may be sent back to.'),
  session_seconds: z.int().min(SESSION_SECONDS_MIN).max(SESSION_SECONDS_MAX),
  enabled: z.boolean(),
}

export const updateApplicationBody = z
  .strictObject(shape)
  .partial()
  .meta({ id: 'UpdateSignInApplication' })

export const createApplicationBody = z
  .strictObject({
    ...shape,
    kind: z.enum(['oidc', 'entra', 'forward_auth']).default('oidc'),
    mode: shape.mode.default('step_up'),
    token_endpoint_auth_method: shape.token_endpoint_auth_method.optional(),
    redirect_uris: shape.redirect_uris.default([]),
    post_logout_redirect_uris: shape.post_logout_redirect_uris.default([]),
    jwks: shape.jwks.default(null),
    jwks_uri: shape.jwks_uri.default(null),
    backchannel_logout_uri: shape.backchannel_logout_uri.default(null),
    upstream_provider_id: shape.upstream_provider_id.default(null),
    minimum_assurance: shape.minimum_assurance.default('live'),
    serial_claimed: shape.serial_claimed.default(false),
    claims_profile: shape.claims_profile.default('standard'),
    entra_tenant_id: shape.entra_tenant_id.default(null),
    entra_app_id: shape.entra_app_id.default(null),
    entra_cloud: shape.entra_cloud.optional(),
    hosts: shape.hosts.default([]),
    session_seconds: shape.session_seconds.default(SESSION_SECONDS_DEFAULT),
    enabled: shape.enabled.default(true),
  })
  .meta({ id: 'CreateSignInApplication' })

/** What is given of an application. */
export function toApplicationEdit(body: z.output<typeof updateApplicationBody>): ApplicationEdit {
  return {
    name: body.name,
    mode: body.mode,
    tokenEndpointAuthMethod: body.token_endpoint_auth_method,
    redirectUris: body.redirect_uris,
    postLogoutRedirectUris: body.post_logout_redirect_uris,
    jwks: body.jwks,
    jwksUri: body.jwks_uri,
    backchannelLogoutUri: body.backchannel_logout_uri,
    upstreamProviderId: body.upstream_provider_id,
    minimumAssurance: body.minimum_assurance,
    isSerialClaimed: body.serial_claimed,
    claimsProfile: body.claims_profile,
    entraTenantId: body.entra_tenant_id,
    entraAppId: body.entra_app_id,
    entraCloud: body.entra_cloud,
    // Browsers do not name the usual port.
    hosts: body.hosts?.map((host) => host.replace(/:443$/, '')),
    sessionSeconds: body.session_seconds,
    isEnabled: body.enabled,
  }
}

/** A whole application; its kind decides what is usual. */
export function toApplicationValues(
  body: z.output<typeof createApplicationBody>,
): ApplicationValues {
  const { kind, ...rest } = body
  return {
    // Every member of a body that creates is there.
    ...(toApplicationEdit(rest) as Required<ApplicationValues>),
    kind,
    tokenEndpointAuthMethod:
      body.token_endpoint_auth_method ?? (kind === 'oidc' ? 'client_secret_basic' : 'none'),
    entraCloud: body.entra_cloud ?? (kind === 'entra' ? 'global' : null),
  }
}
