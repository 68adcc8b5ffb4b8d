import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import { timestampInput } from '../../platform/wire/body-values.ts'
import { answer, listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  type WebhookDependencies,
} from './change-webhook.ts'
import { testWebhook, type TestWebhookDependencies } from './test-webhook.ts'
import { assertMayHear } from './webhook-event-areas.ts'
import { createWebhookBody, SIGNING_FORMS, updateWebhookBody } from './webhook-input.ts'
import { toWebhookJson, webhookSchema, webhookWithSecretSchema } from './webhook-json.ts'
import {
  revealWebhookSecret,
  rotateWebhookSecret,
  type WebhookWithSecret,
} from './webhook-secrets.ts'
import { getWebhook, getWebhookRecord, listWebhooks } from './webhook-store.ts'

export type WebhookRouteDependencies = WebhookDependencies &
  TestWebhookDependencies &
  Pick<Foundation, 'db' | 'clock' | 'runChange'>

/** What every request to a webhook needs: reads too, for addresses and payloads are not for every key. */
export const WEBHOOK_ACCESS = { tags: ['Webhooks'], permission: 'Manage Webhooks' } as const

const secretSchema = z
  .object({
    id: z.string().describe('The webhook.'),
    signing: z.enum(SIGNING_FORMS),
    secret: z
      .string()
      .nullable()
      .describe('Null for `ed25519`: the private key never leaves the service.'),
    public_key: z.string().nullable(),
  })
  .meta({ id: 'WebhookSecret', description: 'What deliveries are verified with.' })

const rotateBody = z
  .strictObject({
    immediate: z.boolean().describe('Ends the old secrets at once.').optional(),
    old_secret_ends_at: timestampInput
      .describe('Until when deliveries are signed with the old secret too; 24 hours when left out.')
      .optional(),
  })
  .refine(
    ({ immediate, old_secret_ends_at: endsAt }) => immediate !== true || endsAt === undefined,
    { path: ['old_secret_ends_at'], message: 'Cannot stand beside `immediate`' },
  )
  .meta({ id: 'RotateWebhookSecret' })

const testResultSchema = z
  .object({
    success: z.boolean(),
    response_code: z
      .string()
      .describe('The status that the receiver answered; "0" when it could not be reached.'),
    event_id: z.string(),
    delivery_id: z.string(),
    duration_ms: z.number(),
    reason: z.string().nullable().describe('What went wrong, in words; null on success.'),
  })
  .meta({ id: 'WebhookTest', description: 'What became of a test event.' })

/** The operations on webhooks. */
export function webhookRoutes(dependencies: WebhookRouteDependencies): ApiRoute[] {
  return [
    ...readRoutes(dependencies),
    ...writeRoutes(dependencies),
    ...secretRoutes(dependencies),
    testRoute(dependencies),
  ]
}

function readRoutes({ db, clock }: WebhookRouteDependencies): ApiRoute[] {
  return [
    listRoute({
      ...WEBHOOK_ACCESS,
      path: '/webhooks',
      summary: 'List webhooks',
      item: webhookSchema,
      fetch: ({ window }) => listWebhooks(db, window, clock.now()),
      toJson: toWebhookJson,
    }),
    route({
      ...WEBHOOK_ACCESS,
      method: 'GET',
      path: '/webhooks/:id',
      summary: 'Show a webhook',
      responses: { 200: webhookSchema },
      handler: async ({ params }) =>
        toWebhookJson(await getWebhookRecord(db, params.id, clock.now())),
    }),
  ]
}

function writeRoutes(dependencies: WebhookRouteDependencies): ApiRoute[] {
  const { runChange } = dependencies
  return [
    changeRoute(runChange, {
      ...WEBHOOK_ACCESS,
      method: 'POST',
      path: '/webhooks',
      stepUp: true,
      summary: 'Create a webhook',
      description: 'The answer carries its secret.',
      body: createWebhookBody,
      responses: { 200: webhookWithSecretSchema },
      example: {
        body: {
          name: 'Tickets',
          url: 'https://receiver.example.com/webhooks',
          events: ['issues.new', 'issues.resolved'],
        },
      },
      handler: async ({ change, body, principal }) => {
        assertMayHear(principal, body.events)
        return withSecret(await createWebhook(change, body, dependencies))
      },
    }),
    changeRoute(runChange, {
      ...WEBHOOK_ACCESS,
      method: 'PATCH',
      path: '/webhooks/:id',
      stepUp: true,
      summary: 'Change a webhook',
      description:
        'Members that are left out stay as they are. A webhook that is switched on again sends what was waiting when it was switched off.',
      body: updateWebhookBody,
      responses: { 200: webhookSchema },
      example: { body: { enabled: false } },
      handler: async ({ change, params, body, principal }) => {
        // Locked, so that the events which it is told of stay those that were looked at.
        const { events } = await getWebhook(change.tx, params.id, { isLocked: true })
        assertMayHear(principal, [...events, ...(body.events ?? [])])
        return toWebhookJson(await changeWebhook(change, params.id, body, dependencies))
      },
    }),
    changeRoute(runChange, {
      ...WEBHOOK_ACCESS,
      method: 'DELETE',
      path: '/webhooks/:id',
      summary: 'Delete a webhook',
      description: 'What is queued for it goes with it; the events stay.',
      responses: { 200: webhookSchema },
      handler: async ({ change, params }) => toWebhookJson(await deleteWebhook(change, params.id)),
    }),
  ]
}

function secretRoutes({ runChange, sealer }: WebhookRouteDependencies): ApiRoute[] {
  return [
    changeRoute(runChange, {
      ...WEBHOOK_ACCESS,
      method: 'GET',
      path: '/webhooks/:id/secret',
      stepUp: true,
      summary: 'Reveal the secret of a webhook',
      description:
        'An admin with Full Access answers for every key. The audit log names who saw it.',
      responses: { 200: secretSchema },
      handler: async ({ change, params }) => {
        const revealed = await revealWebhookSecret(change, params.id, sealer)
        return answer(200, toWire(secretSchema, revealed), NEVER_KEPT)
      },
    }),
    changeRoute(runChange, {
      ...WEBHOOK_ACCESS,
      method: 'POST',
      path: '/webhooks/:id/rotate_secret',
      stepUp: true,
      summary: 'Give a webhook a new secret',
      description:
        'The answer carries it. Until the old one ends, deliveries are signed with both.',
      body: rotateBody,
      responses: { 200: webhookWithSecretSchema },
      example: { body: {} },
      handler: async ({ change, params, body }) => {
        const { immediate, old_secret_ends_at: endsAt } = body
        const end = immediate === true ? change.at : endsAt
        return withSecret(await rotateWebhookSecret(change, params.id, end, sealer))
      },
    }),
  ]
}

/** A secret that was asked for by GET stays in no cache. */
const NEVER_KEPT = { 'cache-control': 'no-store' } as const

function testRoute(dependencies: WebhookRouteDependencies): ApiRoute {
  return route({
    ...WEBHOOK_ACCESS,
    method: 'POST',
    path: '/webhooks/:id/test',
    summary: 'Send a test event to a webhook',
    description: 'At once and once only, whatever it subscribes to and whether or not it is on.',
    responses: { 200: testResultSchema },
    handler: async (context) => {
      const result = await testWebhook(toOrigin(context), context.params.id, dependencies)
      return toWire(testResultSchema, result, {
        success: result.isSuccess,
        response_code: String(result.statusCode),
      })
    },
  })
}

function withSecret({
  webhook,
  secret,
}: WebhookWithSecret): z.input<typeof webhookWithSecretSchema> {
  return { ...toWebhookJson(webhook), secret }
}
