import { AUTHORIZATION_SCHEME_BEARER, DELIVERY_METHODS, SSF_SPEC_VERSION } from '@heliograph/ssf'
import { z } from 'zod'
import { answer, route, type ApiRoute } from '../../schema/operations.ts'
import { EVENTS_SUPPORTED } from './stream-json.ts'

const configurationSchema = z
  .object({
    spec_version: z.string(),
    issuer: z.string(),
    jwks_uri: z.string(),
    delivery_methods_supported: z.array(z.string()),
    events_supported: z.array(z.string()),
    configuration_endpoint: z.string(),
    status_endpoint: z.string(),
    verification_endpoint: z
      .string()
      .describe('Where `{stream_id}` stands in it, put the id of the stream there.'),
    authorization_schemes: z.array(z.object({ spec_urn: z.string() })),
    default_subjects: z.literal('ALL'),
  })
  .meta({ id: 'SsfConfiguration', description: 'The discovery document. SSF 1.0 section 7.1.' })

const CACHE_CONTROL = 'public, max-age=300'

export interface WellKnownDependencies {
  readonly baseUrl: string
  /** Many clients cannot fill in the template that the interface has here. */
  readonly verificationEndpoint?: 'template' | 'concrete'
}

/** The discovery document of the root issuer, for anyone. */
export function wellKnownRoutes({
  baseUrl,
  verificationEndpoint = 'template',
}: WellKnownDependencies): ApiRoute[] {
  const verificationPath =
    verificationEndpoint === 'template' ? '/ssf_streams/{stream_id}/test' : '/ssf_streams/verify'
  const document = {
    spec_version: SSF_SPEC_VERSION,
    issuer: baseUrl,
    jwks_uri: `${baseUrl}/ssf/jwks.json`,
    delivery_methods_supported: [...DELIVERY_METHODS],
    events_supported: [...EVENTS_SUPPORTED],
    configuration_endpoint: `${baseUrl}/ssf_streams`,
    status_endpoint: `${baseUrl}/ssf_streams/status`,
    verification_endpoint: baseUrl + verificationPath,
    authorization_schemes: [{ spec_urn: AUTHORIZATION_SCHEME_BEARER }],
    default_subjects: 'ALL' as const,
  }
  return [
    route({
      method: 'GET',
      path: '/.well-known/ssf-configuration',
      summary: 'Show the configuration of the transmitter',
      tags: ['Shared Signals'],
      permission: 'public',
      responses: { 200: configurationSchema },
      handler: () => answer(200, document, { 'cache-control': CACHE_CONTROL }),
    }),
  ]
}
