import { z } from 'zod'
import type { RouteFoundation, Foundation } from '../../changes/foundation.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import type { Change } from '../../changes/change.ts'
import { EMAIL_LENGTH_MAX } from '../../platform/parse-text.ts'
import { textInput, timestampInput } from '../../platform/wire/body-values.ts'
import { answer, listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import { apiKeySchema, apiKeyWithSecretSchema, toApiKeyJson } from './api-key-json.ts'
import { getKey, listKeys, type ApiKeyWithPermissions } from './api-key-store.ts'
import { changeApiKey } from './change-api-key.ts'
import { createApiKey, revokeApiKey, rotateApiKey, type IssuedKey } from './create-api-key.ts'
import { assertEndsInTime, assertHolds, assertMayHaveSecretOf } from './grantor.ts'
import { revealApiKeyTo } from './reveal-api-key.ts'

export type ApiKeyRouteDependencies = RouteFoundation & Pick<Foundation, 'clock' | 'sealer'>

const ACCESS = { tags: ['API keys'], permission: 'Manage API Keys' } as const

const NAME_LENGTH_MAX = 200
const REASON_LENGTH_MAX = 1_000
const OVERLAP_SECONDS_MAX = 604_800
const OVERLAP_SECONDS_DEFAULT = 86_400
/** More than there are permissions. */
const PERMISSIONS_MAX = 100

const permissionsInput = z
  .array(
    z.strictObject({
      permission: textInput(NAME_LENGTH_MAX),
      rationale: textInput(REASON_LENGTH_MAX).describe('Why the key needs it.'),
    }),
  )
  .max(PERMISSIONS_MAX, `Must be at most ${PERMISSIONS_MAX} permissions`)

const createBody = z
  .strictObject({
    name: textInput(NAME_LENGTH_MAX).describe('What the key is for.'),
    responsible_email: textInput(EMAIL_LENGTH_MAX).describe(
      'The email address of the admin with Full Access who answers for the use of the key.',
    ),
    permissions: permissionsInput
      .optional()
      .describe('What the key may do beside reading; each has to be held by the caller.'),
    expires_at: timestampInput.nullable().optional().describe('When it ends; never when left out.'),
  })
  .meta({ id: 'CreateApiKey' })

const changeBody = z
  .strictObject({
    name: textInput(NAME_LENGTH_MAX).optional(),
    responsible_email: textInput(EMAIL_LENGTH_MAX).optional(),
    permissions: permissionsInput
      .optional()
      .describe('All that the key holds from now on; the caller has to hold what is added.'),
    expires_at: timestampInput.nullable().optional().describe('When it ends; null for never.'),
  })
  .meta({ id: 'ChangeApiKey' })

const rotateBody = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0, 'Must be 0 or more')
      .max(OVERLAP_SECONDS_MAX, `Must be at most ${OVERLAP_SECONDS_MAX}`)
      .optional()
      .describe('How long the old secret keeps working; a day when left out, 0 ends it at once.'),
  })
  .meta({ id: 'RotateApiKey' })

const revealBody = z
  .strictObject({
    reason: textInput(REASON_LENGTH_MAX).describe('Why it is looked at; for the audit log.'),
  })
  .meta({ id: 'RevealApiKey' })

const revealedSchema = z
  .object({ id: z.string(), secret: z.string().describe('What requests carry.') })
  .meta({ id: 'RevealedApiKey' })

/** A secret stays in no cache. */
const NEVER_KEPT = { 'cache-control': 'no-store' } as const

const EXAMPLE_GRANT = {
  permission: 'Remove Devices',
  rationale: 'Removes devices of people who leave.',
}

/** Reading and managing API keys. */
export function apiKeyRoutes(dependencies: ApiKeyRouteDependencies): ApiRoute[] {
  return [...readRoutes(dependencies), ...writeRoutes(dependencies), ...secretRoutes(dependencies)]
}

function readRoutes({ db, clock, baseUrl }: ApiKeyRouteDependencies): ApiRoute[] {
  const toJson = (key: ApiKeyWithPermissions) => toApiKeyJson(baseUrl, key, clock.now())
  return [
    listRoute({
      ...ACCESS,
      path: '/api_keys',
      summary: 'List API keys',
      description: 'Those that have ended too. Secrets are masked.',
      item: apiKeySchema,
      fetch: ({ window }) => listKeys(db, window),
      toJson,
    }),
    route({
      ...ACCESS,
      method: 'GET',
      path: '/api_keys/:id',
      summary: 'Show an API key',
      responses: { 200: apiKeySchema },
      handler: async ({ params }) => toJson(await getKey(db, params.id)),
    }),
  ]
}

function writeRoutes({ runChange, sealer, baseUrl }: ApiKeyRouteDependencies): ApiRoute[] {
  return [
    changeRoute(runChange, {
      ...ACCESS,
      method: 'POST',
      path: '/api_keys',
      stepUp: true,
      summary: 'Create an API key',
      description:
        'The answer carries its secret. A caller grants only what it holds itself; a key grants nothing that ends later than itself.',
      body: createBody,
      responses: { 200: apiKeyWithSecretSchema },
      example: {
        body: {
          name: 'Offboarding',
          responsible_email: 'grace@example.com',
          permissions: [EXAMPLE_GRANT],
        },
      },
      handler: async ({ change, body, principal }) => {
        const { permissions = [], expires_at: expiresAt = null } = body
        await assertEndsInTime(change, principal, expiresAt)
        const issued = await createApiKey(change, sealer, {
          name: body.name,
          responsibleEmail: body.responsible_email,
          permissions,
          expiresAt,
        })
        assertHolds(
          principal,
          permissions.map(({ permission }) => permission),
        )
        return withSecret(baseUrl, change, issued)
      },
    }),
    changeRoute(runChange, {
      ...ACCESS,
      method: 'PATCH',
      path: '/api_keys/:id',
      stepUp: true,
      summary: 'Change an API key',
      description:
        'Members that are left out stay as they are, and so does the secret. The next request of the key goes by it. A caller changes only keys of which it holds every permission; a key moves no end beyond its own.',
      body: changeBody,
      responses: { 200: apiKeySchema },
      example: { body: { permissions: [EXAMPLE_GRANT] } },
      handler: async ({ change, params, body, principal }) => {
        const { id } = await changeApiKey(change, principal, params.id, {
          name: body.name,
          responsibleEmail: body.responsible_email,
          permissions: body.permissions,
          expiresAt: body.expires_at,
        })
        return toApiKeyJson(baseUrl, await getKey(change.tx, id), change.now())
      },
    }),
    changeRoute(runChange, {
      ...ACCESS,
      method: 'DELETE',
      path: '/api_keys/:id',
      summary: 'Revoke an API key',
      description: 'Its next request is refused, in every process. The record stays.',
      responses: { 200: apiKeySchema },
      handler: async ({ change, params }) => {
        const { id } = await revokeApiKey(change, params.id)
        return toApiKeyJson(baseUrl, await getKey(change.tx, id), change.now())
      },
    }),
  ]
}

function secretRoutes({ runChange, sealer, baseUrl }: ApiKeyRouteDependencies): ApiRoute[] {
  return [
    changeRoute(runChange, {
      ...ACCESS,
      method: 'POST',
      path: '/api_keys/:id/rotate',
      stepUp: true,
      summary: 'Put a new API key in the place of an old one',
      description:
        'The new key has an id and a secret of its own, and what the old one holds; the answer carries the secret. For a caller that holds what the old key holds, and for as long.',
      body: rotateBody,
      responses: { 200: apiKeyWithSecretSchema },
      example: { body: {} },
      handler: async ({ change, params, body, principal }) => {
        await assertMayHaveSecretOf(change, principal, params.id)
        const overlap = body.overlap_seconds ?? OVERLAP_SECONDS_DEFAULT
        const issued = await rotateApiKey(change, sealer, params.id, overlap)
        return withSecret(baseUrl, change, issued)
      },
    }),
    changeRoute(runChange, {
      ...ACCESS,
      method: 'POST',
      path: '/api_keys/:id/reveal',
      stepUp: true,
      summary: 'Reveal the secret of an API key',
      description:
        'To a caller that holds what the key holds, and for as long. The audit log names the caller and the reason before the answer is sent.',
      body: revealBody,
      responses: { 200: revealedSchema },
      example: { body: { reason: 'Its copy in the vault was lost.' } },
      handler: async ({ change, params, body, principal }) => {
        const revealed = { keyId: params.id, reason: body.reason }
        const secret = await revealApiKeyTo(change, sealer, principal, revealed)
        return answer(200, { id: params.id, secret }, NEVER_KEPT)
      },
    }),
  ]
}

async function withSecret(baseUrl: string, change: Change, { id, key }: IssuedKey) {
  const json = toApiKeyJson(baseUrl, await getKey(change.tx, id), change.now())
  return answer(200, { ...json, secret: key }, NEVER_KEPT)
}
