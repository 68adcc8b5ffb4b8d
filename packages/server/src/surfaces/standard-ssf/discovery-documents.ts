import {
  AUTHORIZATION_SCHEME_OAUTH2,
  DELIVERY_METHODS,
  SSF_SPEC_VERSION,
  type TransmitterConfiguration,
} from '@heliograph/ssf'
import { z } from 'zod'
import {
  ASSERTION_ALGORITHMS,
  CLIENT_AUTHENTICATION_METHODS,
} from '../../signals/clients/authorization-server.ts'
import { SSF_SCOPES } from '../../signals/clients/client-scopes.ts'
import { STANDARD_EVENTS_SUPPORTED } from '../../signals/streams/stream-json.ts'
import type { SsfDocument } from './ssf-operation.ts'
import type { SsfSettings } from '../../signals/streams/stream-context.ts'
import { SSF_PATH, type SurfaceUrls } from '../../signals/streams/surface-urls.ts'

const texts = z.array(z.string())

const transmitterSchema = z
  .looseObject({
    spec_version: z.string(),
    issuer: z.string(),
    jwks_uri: z.string(),
    delivery_methods_supported: texts,
    configuration_endpoint: z.string(),
    status_endpoint: z.string(),
    add_subject_endpoint: z.string(),
    remove_subject_endpoint: z.string(),
    verification_endpoint: z.string(),
    authorization_schemes: z.array(z.object({ spec_urn: z.string() })),
    default_subjects: z.enum(['ALL', 'NONE']),
    events_supported: texts,
  })
  .meta({ id: 'TransmitterConfiguration' })

const authorizationServerSchema = z
  .looseObject({
    issuer: z.string(),
    token_endpoint: z.string(),
    token_endpoint_auth_methods_supported: texts,
    grant_types_supported: texts,
    response_types_supported: texts,
    scopes_supported: texts,
    revocation_endpoint: z.string(),
    introspection_endpoint: z.string(),
  })
  .meta({ id: 'AuthorizationServer' })

const protectedResourceSchema = z
  .looseObject({ resource: z.string(), authorization_servers: texts, scopes_supported: texts })
  .meta({ id: 'ProtectedResource' })

/** What anyone may read of the standard surface: how to use it, and how to get a token for it. */
export function discoveryDocuments(
  baseUrl: string,
  urls: SurfaceUrls,
  settings: Pick<SsfSettings, 'defaultSubjects'>,
): SsfDocument[] {
  const transmitter = {
    summary: 'Show the configuration of the transmitter',
    schema: transmitterSchema,
    content: toTransmitterConfiguration(baseUrl, urls, settings),
  }
  const authorizationServer = {
    summary: 'Show where and how access tokens are issued',
    schema: authorizationServerSchema,
    content: toAuthorizationServer(urls),
  }
  return [
    { ...transmitter, path: `/.well-known/ssf-configuration${SSF_PATH}` },
    // Some receivers append the well-known part to the issuer where SSF 1.0 section 7.2.1 inserts it.
    { ...transmitter, path: `${SSF_PATH}/.well-known/ssf-configuration` },
    {
      ...authorizationServer,
      path: `/.well-known/oauth-authorization-server${SSF_PATH}`,
    },
    {
      ...authorizationServer,
      path: `${SSF_PATH}/.well-known/oauth-authorization-server`,
    },
    {
      path: `/.well-known/oauth-protected-resource${SSF_PATH}`,
      summary: 'Show which access tokens the standard surface takes',
      schema: protectedResourceSchema,
      content: {
        resource: urls.issuer,
        authorization_servers: [urls.issuer],
        scopes_supported: [...SSF_SCOPES],
        bearer_methods_supported: ['header'],
      },
    },
  ]
}

/** SSF 1.0 section 7.1. */
function toTransmitterConfiguration(
  baseUrl: string,
  urls: SurfaceUrls,
  { defaultSubjects }: Pick<SsfSettings, 'defaultSubjects'>,
): TransmitterConfiguration {
  return {
    spec_version: SSF_SPEC_VERSION,
    issuer: urls.issuer,
    jwks_uri: `${baseUrl}/ssf/jwks.json`,
    delivery_methods_supported: [...DELIVERY_METHODS],
    configuration_endpoint: urls.configurationEndpoint,
    status_endpoint: urls.statusEndpoint,
    add_subject_endpoint: urls.addSubjectEndpoint,
    remove_subject_endpoint: urls.removeSubjectEndpoint,
    verification_endpoint: urls.verificationEndpoint,
    authorization_schemes: [{ spec_urn: AUTHORIZATION_SCHEME_OAUTH2 }],
    default_subjects: defaultSubjects,
    events_supported: [...STANDARD_EVENTS_SUPPORTED],
  }
}

/** RFC 8414 section 2. */
function toAuthorizationServer(urls: SurfaceUrls): object {
  const authentication = (endpoint: string) => ({
    [`${endpoint}_endpoint_auth_methods_supported`]: [...CLIENT_AUTHENTICATION_METHODS],
    [`${endpoint}_endpoint_auth_signing_alg_values_supported`]: [...ASSERTION_ALGORITHMS],
  })
  return {
    issuer: urls.issuer,
    token_endpoint: urls.tokenEndpoint,
    ...authentication('token'),
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
    scopes_supported: [...SSF_SCOPES],
    revocation_endpoint: urls.revocationEndpoint,
    ...authentication('revocation'),
    introspection_endpoint: urls.introspectionEndpoint,
    ...authentication('introspection'),
  }
}
