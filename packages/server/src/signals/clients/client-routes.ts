import { z } from 'zod'
import type { Change } from '../../changes/change.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import { textInput } from '../../platform/wire/body-values.ts'
import { parseId } from '../../platform/ids.ts'
import { listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import { STREAM_PROFILE_NAMES } from '../streams/stream-choices.ts'
import { toSurfaceUrls } from '../streams/surface-urls.ts'
import {
  CLIENT_AUDIENCE_LENGTH_MAX,
  CLIENT_NAME_LENGTH_MAX,
  changeSsfClient,
  createSsfClient,
  revokeSsfClient,
  rotateClientSecret,
  type IssuedClient,
} from './change-client.ts'
import { clientSchema, issuedClientSchema, toClientJson } from './client-json.ts'
import { publicJwksInput } from '../../platform/wire/public-jwks-input.ts'
import { SSF_SCOPES } from './client-scopes.ts'
import { getClient, listClients, listLiveSecrets, type SsfClient } from './client-store.ts'

export interface ClientRouteDependencies extends Pick<Foundation, 'db' | 'clock' | 'runChange'> {
  readonly baseUrl: string
}

const ACCESS = {
  tags: ['Shared Signals'],
  permission: 'Manage Shared Signals Framework Streams',
  feature: 'ssf',
} as const

const OVERLAP_SECONDS_MAX = 604_800
const OVERLAP_SECONDS_DEFAULT = 86_400

const clientShape = {
  name: textInput(CLIENT_NAME_LENGTH_MAX),
  scopes: z.array(z.enum(SSF_SCOPES)).min(1).max(SSF_SCOPES.length),
  audience: textInput(CLIENT_AUDIENCE_LENGTH_MAX).nullable(),
  default_subjects: z.enum(['ALL', 'NONE']).nullable(),
  profile: z
    .enum(STREAM_PROFILE_NAMES)
    .describe('What its new streams begin with: a profile of streams.'),
  jwks: publicJwksInput,
} as const

const updateBody = z.strictObject(clientShape).partial().meta({ id: 'UpdateSsfClient' })

const createBody = updateBody
  .extend({
    name: clientShape.name,
    scopes: clientShape.scopes.default([...SSF_SCOPES]),
    profile: clientShape.profile.default('strict'),
  })
  .meta({ id: 'CreateSsfClient' })

const rotateBody = z.strictObject({
  overlap_seconds: z
    .int()
    .min(0)
    .max(OVERLAP_SECONDS_MAX)
    .default(OVERLAP_SECONDS_DEFAULT)
    .describe('How long the secrets before it keep working.'),
})

/** The operations on the OAuth clients of the standard surface. */
export function clientRoutes(dependencies: ClientRouteDependencies): ApiRoute[] {
  return [...readRoutes(dependencies), ...writeRoutes(dependencies), ...endingRoutes(dependencies)]
}

function readRoutes({ db, clock }: ClientRouteDependencies): ApiRoute[] {
  return [
    listRoute({
      ...ACCESS,
      path: '/ssf_clients',
      summary: 'List Shared Signals clients',
      description: 'Revoked ones are among them.',
      item: clientSchema,
      fetch: ({ window }) => listClients(db, window, clock.now()),
      toJson: (client) => toClientJson(client, client.secrets),
    }),
    route({
      ...ACCESS,
      method: 'GET',
      path: '/ssf_clients/:id',
      summary: 'Show a Shared Signals client',
      responses: { 200: clientSchema },
      handler: async ({ params }) => {
        const client = await getClient(db, parseId(params.id, 'client'))
        return toClientJson(client, await listLiveSecrets(db, [client.id], clock.now()))
      },
    }),
  ]
}

function writeRoutes({ baseUrl, runChange }: ClientRouteDependencies): ApiRoute[] {
  const { tokenEndpoint } = toSurfaceUrls(baseUrl)
  return [
    changeRoute(runChange, {
      ...ACCESS,
      method: 'POST',
      path: '/ssf_clients',
      stepUp: true,
      summary: 'Create a Shared Signals client',
      description:
        'With `jwks` it signs assertions with its own keys; without, it gets a secret, which is shown once.',
      body: createBody,
      example: { body: { name: 'Gateway', scopes: ['ssf.read', 'ssf.manage'] } },
      responses: { 200: issuedClientSchema },
      handler: async ({ change, body }) => {
        const { audience = null, default_subjects = null, jwks = null, ...draft } = body
        const members = { ...draft, audience, defaultSubjects: default_subjects, jwks }
        return toIssuedJson(change, await createSsfClient(change, members), tokenEndpoint)
      },
    }),
    changeRoute(runChange, {
      ...ACCESS,
      method: 'PATCH',
      path: '/ssf_clients/:id',
      stepUp: true,
      summary: 'Change a Shared Signals client',
      description: 'A scope that is taken away is gone from its tokens at once.',
      body: updateBody,
      example: { body: { name: 'Gateway of the office' } },
      responses: { 200: clientSchema },
      handler: async ({ change, params, body }) => {
        const { default_subjects: defaultSubjects, ...patch } = body
        const id = parseId(params.id, 'client')
        return toJson(change, await changeSsfClient(change, id, { ...patch, defaultSubjects }))
      },
    }),
  ]
}

function endingRoutes({ baseUrl, runChange }: ClientRouteDependencies): ApiRoute[] {
  const { tokenEndpoint } = toSurfaceUrls(baseUrl)
  return [
    changeRoute(runChange, {
      ...ACCESS,
      method: 'POST',
      path: '/ssf_clients/:id/rotate_secret',
      stepUp: true,
      summary: 'Give a Shared Signals client a new secret',
      description: 'It is shown once. The secrets before it end after the overlap.',
      body: rotateBody,
      example: { body: { overlap_seconds: 3_600 } },
      responses: { 200: issuedClientSchema },
      handler: async ({ change, params, body }) => {
        const id = parseId(params.id, 'client')
        const issued = await rotateClientSecret(change, id, body.overlap_seconds)
        return toIssuedJson(change, issued, tokenEndpoint)
      },
    }),
    changeRoute(runChange, {
      ...ACCESS,
      method: 'DELETE',
      path: '/ssf_clients/:id',
      summary: 'Revoke a Shared Signals client',
      description: 'Its secrets and tokens end at once, and its streams are disabled.',
      responses: { 200: clientSchema },
      handler: async ({ change, params }) =>
        toJson(change, await revokeSsfClient(change, parseId(params.id, 'client'))),
    }),
  ]
}

async function toJson(change: Change, client: SsfClient) {
  return toClientJson(client, await listLiveSecrets(change.tx, [client.id], change.at))
}

async function toIssuedJson(
  change: Change,
  { client, secret }: IssuedClient,
  tokenEndpoint: string,
) {
  return {
    ...(await toJson(change, client)),
    client_secret: secret,
    token_endpoint: tokenEndpoint,
  }
}
