/* Routes by which admins with Full Access set up the identity provider of the organisation. */
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { toOrigin } from '../../changes/to-origin.ts'
import { AppError } from '../../platform/app-error.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { noContent, route, type ApiRoute } from '../../schema/operations.ts'
import { readOwnSession, type SignInDependencies } from '../admin-sign-in/browser-input.ts'
import { changeProvider, removeProvider, type ProviderEdit } from './change-provider.ts'
import { checkProvider } from './check-provider.ts'
import { findProvider, type IdentityProvider } from './identity-provider-store.ts'
import { countBoundAdmins } from './identity-store.ts'
import { toAccess } from './provider-gateway.ts'
import type { ProviderSignInDependencies } from './provider-attempt.ts'

const PATH = '/console/identity_provider'

/** No key sets up who signs in: whoever decides that could be any admin. */
const ACCESS = { tags: ['Identity provider'], permission: 'session' } as const

export type IdentityProviderDependencies = ProviderSignInDependencies &
  Pick<SignInDependencies, 'site' | 'deviceTrust'>

const GROUPS_MAX = 50

const providerSchema = z.object({
  name: z.string().describe('What the button of the sign-in page says.'),
  issuer: z.string(),
  client_id: z.string(),
  enabled: z.boolean(),
  group_claim: z
    .string()
    .nullable()
    .describe('The claim that names the groups of a person; null: they decide nothing.'),
  full_access_groups: z.array(z.string()),
  limited_access_groups: z.array(z.string()),
  updated_at: timestampSchema,
})

const setupSchema = z
  .object({
    redirect_uri: z.string().describe('Registered at the provider exactly as it stands.'),
    provider: providerSchema.nullable(),
    bound_admins: z.int().describe('Whom the issuer knows.'),
    bound_admins_without_other_way: z
      .int()
      .describe('Of them, who cannot sign in while the provider cannot be asked.'),
  })
  .meta({ id: 'AdminIdentityProvider' })

const text = (max: number) => z.string().trim().min(1).max(max)
const issuerSchema = z.url({ protocol: /^https?$/ }).max(2_048)
const groupsSchema = z.array(text(255)).max(GROUPS_MAX)

const editBody = z
  .strictObject({
    name: text(80).optional(),
    issuer: issuerSchema.optional(),
    client_id: text(255).optional(),
    client_secret: text(1_024).optional().describe('Stored sealed and never answered.'),
    enabled: z.boolean().optional(),
    group_claim: text(255).nullable().optional(),
    full_access_groups: groupsSchema.optional(),
    limited_access_groups: groupsSchema
      .optional()
      .describe('Who is in none of the groups cannot sign in, where a claim names them.'),
    issuer_change_confirmed: z
      .boolean()
      .optional()
      .describe(
        'Those whom the old issuer knows stay bound to it, and cannot sign in by the new one.',
      ),
  })
  .meta({ id: 'ChangeAdminIdentityProvider' })

const checkBody = z
  .strictObject({
    issuer: issuerSchema,
    client_id: text(255),
    client_secret: text(1_024)
      .optional()
      .describe('The stored one when it is left out and issuer and client are those of it.'),
  })
  .meta({ id: 'CheckAdminIdentityProvider' })

const checkSchema = z
  .object({
    problems: z
      .array(
        z.object({
          field: z.enum(['issuer', 'client_id', 'client_secret']),
          message: z.string(),
        }),
      )
      .describe('Empty when everything fits, as far as it can be known before somebody signs in.'),
    authorization_endpoint: z.string().nullable(),
    signatures: z.array(z.string()).describe('The signatures of the provider that are taken.'),
  })
  .meta({ id: 'AdminIdentityProviderCheck' })

const EXAMPLE = {
  issuer: 'https://login.example.com',
  client_id: 'heliograph',
  client_secret: 'a secret of the provider',
}

/** Setting the identity provider up. */
export function identityProviderRoutes(dependencies: IdentityProviderDependencies): ApiRoute[] {
  return [...readRoutes(dependencies), ...writeRoutes(dependencies)]
}

function readRoutes(dependencies: IdentityProviderDependencies): ApiRoute[] {
  const { db, sealer, gateway } = dependencies
  return [
    route({
      ...ACCESS,
      method: 'GET',
      path: PATH,
      summary: 'Show the identity provider of admins',
      responses: { 200: setupSchema },
      handler: async ({ headers }) => {
        await assertSetUp(dependencies, headers)
        return toSetupJson(db, gateway.redirectUri, await findProvider(db))
      },
    }),
    route({
      ...ACCESS,
      method: 'POST',
      path: `${PATH}/check`,
      summary: 'Try what the identity provider is to be set up with',
      description:
        'Asks the provider for its discovery document and tries the secret. Nothing is stored.',
      body: checkBody,
      example: { body: EXAMPLE },
      responses: { 200: checkSchema },
      handler: async ({ headers, body: { issuer, client_id: clientId, client_secret: given } }) => {
        await assertSetUp(dependencies, headers)
        const stored = await findProvider(db)
        // The stored secret is told to nobody but whom it was given for.
        const isStored = stored?.issuer === issuer && stored.clientId === clientId
        const clientSecret = given ?? (isStored ? toAccess(sealer, stored).clientSecret : undefined)
        const found = await checkProvider(gateway, { issuer, clientId, clientSecret })
        return {
          problems: [...found.problems],
          authorization_endpoint: found.authorizationEndpoint,
          signatures: [...found.signatures],
        }
      },
    }),
  ]
}

function writeRoutes(dependencies: IdentityProviderDependencies): ApiRoute[] {
  const { runChange, gateway } = dependencies
  return [
    route({
      ...ACCESS,
      method: 'PATCH',
      path: PATH,
      stepUp: true,
      summary: 'Set up or change the identity provider of admins',
      description:
        'Invited admins sign in by it. Another issuer or client needs a secret of its own. Another issuer asks for `issuer_change_confirmed` while admins are bound to the one before: 409.',
      body: editBody,
      example: { body: EXAMPLE },
      mayConflict: true,
      responses: { 200: setupSchema },
      handler: async (context) => {
        await assertSetUp(dependencies, context.headers)
        return runChange(toOrigin(context), async (change) => {
          const provider = await changeProvider(change, toEdit(context.body), dependencies)
          return toSetupJson(change.tx, gateway.redirectUri, provider)
        })
      },
    }),
    route({
      ...ACCESS,
      method: 'DELETE',
      path: PATH,
      stepUp: true,
      summary: 'Remove the identity provider of admins',
      description:
        'Nobody signs in by it any more. Admins stay bound to their accounts there, for the case that it is set up again.',
      responses: { 204: noContent },
      handler: async (context) => {
        await assertSetUp(dependencies, context.headers)
        return runChange(toOrigin(context), async (change) => {
          await removeProvider(change)
          return undefined
        })
      },
    }),
  ]
}

/** Sessions that a one-time link has begun open none of it before they have a way to sign in. */
async function assertSetUp(
  dependencies: IdentityProviderDependencies,
  headers: IncomingHttpHeaders,
): Promise<void> {
  const { session } = await readOwnSession(dependencies, headers)
  if (!session.isSetupPending) return
  throw new AppError('sign_in_setup_required', 'Choose a way to sign in before you go on.')
}

function toEdit(body: z.output<typeof editBody>): ProviderEdit {
  return {
    name: body.name,
    issuer: body.issuer,
    clientId: body.client_id,
    clientSecret: body.client_secret,
    enabled: body.enabled,
    groupClaim: body.group_claim,
    fullAccessGroups: body.full_access_groups,
    limitedAccessGroups: body.limited_access_groups,
    isIssuerChangeConfirmed: body.issuer_change_confirmed,
  }
}

async function toSetupJson(
  db: ProviderSignInDependencies['db'],
  redirectUri: string,
  provider: IdentityProvider | undefined,
): Promise<z.input<typeof setupSchema>> {
  const counted = provider && (await countBoundAdmins(db, provider.issuer))
  return {
    redirect_uri: redirectUri,
    provider:
      provider === undefined
        ? null
        : {
            name: provider.name,
            issuer: provider.issuer,
            client_id: provider.clientId,
            enabled: provider.enabled,
            group_claim: provider.groupClaim,
            full_access_groups: [...provider.fullAccessGroups],
            limited_access_groups: [...provider.limitedAccessGroups],
            updated_at: toTimestamp(provider.updatedAt),
          },
    bound_admins: counted?.bound ?? 0,
    bound_admins_without_other_way: counted?.withoutOtherWay ?? 0,
  }
}
