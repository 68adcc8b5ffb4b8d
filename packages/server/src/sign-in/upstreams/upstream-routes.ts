import { z } from 'zod'
import { changeRoute } from '../../changes/change-routes.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { parseId } from '../../platform/ids.ts'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import { listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import { checkProvider } from '../../organisation/admin-oidc/check-provider.ts'
import type { ProviderGateway } from '../../organisation/admin-oidc/provider-gateway.ts'
import {
  changeUpstream,
  createUpstream,
  removeUpstream,
  type UpstreamDependencies,
} from './change-upstream.ts'
import {
  createUpstreamBody,
  toUpstreamEdit,
  toUpstreamValues,
  updateUpstreamBody,
} from './upstream-input.ts'
import { getUpstream, listUpstreams, toUpstreamAccess } from './upstream-store.ts'

export type UpstreamRouteDependencies = Pick<Foundation, 'db' | 'runChange' | 'sealer'> &
  UpstreamDependencies & { readonly gateway: ProviderGateway }

const PATH = '/sign_in_upstream_providers'
const READ = { tags: ['Sign-in'], permission: 'Read Sign-in' } as const
const WRITE = { tags: ['Sign-in'], permission: 'Manage Sign-in' } as const

const upstreamSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    issuer: z.string(),
    client_id: z.string(),
    scopes: z.array(z.string()),
    redirect_uri: z.string().describe('Registered at the provider exactly as it stands.'),
    created_at: timestampSchema,
    updated_at: timestampSchema,
  })
  .meta({
    id: 'SignInUpstreamProvider',
    description: 'An OpenID Connect provider by which people are known before they are let in.',
  })

const checkSchema = z
  .object({
    problems: z.array(
      z.object({ field: z.enum(['issuer', 'client_id', 'client_secret']), message: z.string() }),
    ),
    authorization_endpoint: z.string().nullable(),
    signatures: z.array(z.string()),
  })
  .meta({ id: 'SignInUpstreamProviderCheck' })

const EXAMPLE = {
  name: 'Example IdP',
  issuer: 'https://login.example.com',
  client_id: 'heliograph',
  client_secret: 'a secret of the provider',
}

/** The operations on upstream providers. */
export function upstreamRoutes(dependencies: UpstreamRouteDependencies): ApiRoute[] {
  return [...readRoutes(dependencies), ...writeRoutes(dependencies)]
}

function readRoutes({ db, sealer, gateway }: UpstreamRouteDependencies): ApiRoute[] {
  const toJson = toJsonBy(gateway)
  return [
    listRoute({
      ...READ,
      path: PATH,
      summary: 'List upstream providers',
      item: upstreamSchema,
      fetch: ({ window }) => listUpstreams(db, window),
      toJson,
    }),
    route({
      ...READ,
      method: 'GET',
      path: `${PATH}/:id`,
      summary: 'Show an upstream provider',
      responses: { 200: upstreamSchema },
      handler: async ({ params }) =>
        toJson(await getUpstream(db, parseId(params.id, 'upstream provider'))),
    }),
    route({
      ...WRITE,
      method: 'POST',
      path: `${PATH}/:id/check`,
      summary: 'Check an upstream provider',
      description:
        'Asks the provider for its discovery document and tries the secret. Nobody signs in.',
      responses: { 200: checkSchema },
      handler: async ({ params }) => {
        const provider = await getUpstream(db, parseId(params.id, 'upstream provider'))
        const found = await checkProvider(gateway, toUpstreamAccess(sealer, provider))
        return {
          problems: found.problems.map(({ field, message }) => ({ field, message })),
          authorization_endpoint: found.authorizationEndpoint,
          signatures: [...found.signatures],
        }
      },
    }),
  ]
}

function writeRoutes(dependencies: UpstreamRouteDependencies): ApiRoute[] {
  const { runChange, gateway } = dependencies
  const toJson = toJsonBy(gateway)
  return [
    changeRoute(runChange, {
      ...WRITE,
      method: 'POST',
      path: PATH,
      stepUp: true,
      summary: 'Set up an upstream provider',
      body: createUpstreamBody,
      example: { body: EXAMPLE },
      responses: { 200: upstreamSchema },
      handler: async ({ change, body }) =>
        toJson(await createUpstream(change, toUpstreamValues(body), dependencies)),
    }),
    changeRoute(runChange, {
      ...WRITE,
      method: 'PATCH',
      path: `${PATH}/:id`,
      stepUp: true,
      summary: 'Change an upstream provider',
      description: 'Another issuer or client needs the secret anew.',
      body: updateUpstreamBody,
      example: { body: { name: 'Example IdP of the office' } },
      responses: { 200: upstreamSchema },
      handler: async ({ change, params, body }) => {
        const id = parseId(params.id, 'upstream provider')
        return toJson(await changeUpstream(change, id, toUpstreamEdit(body), dependencies))
      },
    }),
    changeRoute(runChange, {
      ...WRITE,
      method: 'DELETE',
      path: `${PATH}/:id`,
      summary: 'Remove an upstream provider',
      description: 'Only when no application knows people by it.',
      responses: { 200: upstreamSchema },
      handler: async ({ change, params }) =>
        toJson(await removeUpstream(change, parseId(params.id, 'upstream provider'))),
    }),
  ]
}

function toJsonBy({ redirectUri }: Pick<ProviderGateway, 'redirectUri'>) {
  return (provider: Awaited<ReturnType<typeof getUpstream>>) =>
    toWire(upstreamSchema, provider, { redirect_uri: redirectUri })
}
