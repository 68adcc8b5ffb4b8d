/*
 * What a client may write of a webhook. What becomes of it is for the use cases.
 */
import { z } from 'zod'
import { textInput } from '../../platform/wire/body-values.ts'
import { parseRequestPart } from '../../platform/http/validation.ts'
import { SUBSCRIBABLE_EVENTS } from './webhook-event-types.ts'

const NAME_LENGTH_MAX = 255
const DESCRIPTION_LENGTH_MAX = 2_048
const URL_LENGTH_MAX = 2_048

/** More than any receiver takes: without a limit there is none. */
export const RATE_LIMIT_MAX = 10_000

const hasNoControlCharacters = (text: string): boolean => !/\p{Cc}/u.test(text)

const nameInput = textInput(NAME_LENGTH_MAX).refine(
  hasNoControlCharacters,
  'Must not contain control characters',
)

const descriptionInput = textInput(DESCRIPTION_LENGTH_MAX).nullable()

const urlInput = z
  .string()
  .trim()
  .min(1, 'Must not be empty')
  .max(URL_LENGTH_MAX, `Must be at most ${URL_LENGTH_MAX} characters long`)
  .describe('Where events are posted: HTTPS and public, unless the operator allows more.')

const eventsInput = z
  .array(z.enum(SUBSCRIBABLE_EVENTS))
  .min(1, 'Must name at least one event')
  .transform((events) => [...new Set(events)])
  .describe('The events that it is told of.')

const headersInput = z
  .record(z.string(), z.string())
  .describe('Sent with every delivery. Values are stored sealed and never answered.')

const rateLimitInput = z
  .int()
  .min(1)
  .max(RATE_LIMIT_MAX)
  .nullable()
  .describe('How many deliveries per second it gets at most; null for no limit.')

/** The forms of signatures. */
export const SIGNING_FORMS = ['standard', 'ed25519', 'hex'] as const

/** The body that creates a webhook. */
export const createWebhookBody = z
  .strictObject({
    name: nameInput,
    url: urlInput,
    events: eventsInput,
    description: descriptionInput.optional(),
    enabled: z.boolean().optional(),
    signing: z
      .enum(SIGNING_FORMS)
      .describe(
        '`standard`: Standard Webhooks with a shared secret; `ed25519`: with a key pair; `hex`: besides, the HMAC-SHA256 of the body in `Authorization`.',
      )
      .optional(),
    headers: headersInput.optional(),
    rate_limit_per_second: rateLimitInput.optional(),
  })
  .meta({ id: 'CreateWebhook' })

/** The body that changes a webhook; what is left out stays. */
export const updateWebhookBody = createWebhookBody
  .omit({ signing: true })
  .partial()
  .extend({
    headers: headersInput
      .describe('Replace all headers that it has. Needed with a `url` on another host.')
      .optional(),
  })
  .meta({ id: 'UpdateWebhook' })

/** What a new webhook shall be. */
export type NewWebhook = Omit<z.output<typeof createWebhookBody>, 'events'> & {
  readonly events: readonly string[]
}

/**
 * A new webhook as a command gives it.
 *
 * @throws AppError `invalid_body` with one detail per fault
 */
export function readNewWebhook(input: Record<string, unknown>): NewWebhook {
  return parseRequestPart(createWebhookBody, input, 'body')
}

/**
 * What a command changes of a webhook.
 *
 * @throws AppError `invalid_body` with one detail per fault
 */
export function readWebhookEdit(input: Record<string, unknown>): WebhookEdit {
  return parseRequestPart(updateWebhookBody, input, 'body')
}

/** What shall change of a webhook. */
export type WebhookEdit = z.output<typeof updateWebhookBody>
