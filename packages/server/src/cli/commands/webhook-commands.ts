import type { Config } from '../../app/config/load-config.ts'
import { SETTINGS } from '../../app/config/settings.ts'
import { AppError } from '../../platform/app-error.ts'
import { givenMembers } from '../../platform/given-members.ts'
import { parseAllowedTargets } from '../../platform/net/target-policy.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
} from '../../signals/webhooks/change-webhook.ts'
import {
  RATE_LIMIT_MAX,
  readNewWebhook,
  readWebhookEdit,
  SIGNING_FORMS,
} from '../../signals/webhooks/webhook-input.ts'
import { toWebhookJson } from '../../signals/webhooks/webhook-json.ts'
import { getWebhookRecord, listWebhooks } from '../../signals/webhooks/webhook-store.ts'
import { EVERYTHING, toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { choiceOption, flag, listOption, option, wholeOption } from '../option.ts'
import { COMMAND_LINE_ORIGIN, settingOption } from '../run-command.ts'
import { webhookEventCommands } from './webhook-event-commands.ts'
import { revealCommand, rotateSecretCommand, toSecretText } from './webhook-secret-commands.ts'

/** Where deliveries may go is the same for commands as for the service that makes them. */
const TARGET_OPTION = { allowedTargets: settingOption(SETTINGS.allowedTargets) }

const create = databaseCommand({
  name: 'create',
  description: 'create a webhook; its secret is shown',
  options: {
    ...TARGET_OPTION,
    name: option('--name <name>', 'what it is for').required(),
    url: option('--url <url>', 'where events are posted').required(),
    event: listOption(
      '--event <event...>',
      'an event that it is told of; may be repeated',
    ).required(),
    signing: choiceOption('--signing <form>', 'how deliveries are signed', SIGNING_FORMS).default(
      'standard',
    ),
    description: option('--description <text>', 'more about it'),
    header: listOption('--header <name=value...>', 'a header that is sent with every delivery'),
    rateLimit: wholeOption(
      '--rate-limit <n>',
      'how many deliveries per second it gets at most',
      RATE_LIMIT_MAX,
    ),
  },
  run({ change, options, services: { config, sealer } }) {
    const input = readNewWebhook({
      name: options.name,
      url: options.url,
      events: options.event,
      signing: options.signing,
      headers: Object.fromEntries((options.header ?? []).map(parseHeader)),
      rate_limit_per_second: options.rateLimit ?? null,
      ...(options.description === undefined ? {} : { description: options.description }),
    })
    const targetPolicy = readTargetPolicy(config)
    const { webhooksMax } = config
    return change((tx) => createWebhook(tx, input, { sealer, targetPolicy, webhooksMax }))
  },
  json: ({ webhook: { id, publicKey: public_key }, secret }) => ({
    id,
    secret,
    ...(public_key === null ? {} : { public_key }),
  }),
  text: ({ webhook, secret }) => toSecretText(secret, webhook.publicKey),
})

const list = databaseCommand({
  name: 'list',
  description: 'list the webhooks',
  run: ({ services: { clock, db } }) => listWebhooks(db, EVERYTHING, clock.now()),
  json: (webhooks) => webhooks.map(toWebhookJson),
  text: (webhooks) =>
    toTable(webhooks, {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      STATE: (webhook) => (webhook.enabled ? 'on' : `off (${webhook.disabledReason ?? ''})`),
      WAITING: (webhook) => String(webhook.queuedCount),
      DEAD: (webhook) => String(webhook.deadCount),
      EVENTS: ({ events }) => abridge(events),
      URL: ({ url }) => url,
    }),
})

/** As many events as a line of the list has room for. */
const LISTED_EVENTS_MAX = 2

/** All of them are in `show` and with `--json`. */
function abridge(events: readonly string[]): string {
  const rest = events.length - LISTED_EVENTS_MAX
  const shown = events.slice(0, LISTED_EVENTS_MAX).join(', ')
  return rest > 0 ? `${shown} and ${rest} more` : shown
}

const show = databaseCommand({
  name: 'show <id>',
  description: 'show a webhook, without its secret',
  run: async ({ args, services: { clock, db } }) =>
    toWebhookJson(await getWebhookRecord(db, args.id, clock.now())),
  text: (webhook) =>
    Object.entries(webhook).map(
      ([name, value]) =>
        `${name}: ${Array.isArray(value) ? value.join(', ') : String(value ?? '-')}`,
    ),
})

const update = databaseCommand({
  name: 'update <id>',
  description: 'change what is named of a webhook; the rest stays',
  options: {
    ...TARGET_OPTION,
    name: option('--name <name>', 'what it is for'),
    url: option('--url <url>', 'where events are posted'),
    event: listOption('--event <event...>', 'all events that it is told of from now on'),
    description: option('--description <text>', 'more about it; empty for none'),
    header: listOption(
      '--header <name=value...>',
      'all headers that are sent with every delivery from now on',
    ),
    withoutHeaders: flag('--without-headers', 'send no headers of its own').conflicts('header'),
    rateLimit: wholeOption(
      '--rate-limit <n>',
      'how many deliveries per second it gets at most',
      RATE_LIMIT_MAX,
    ),
    withoutRateLimit: flag('--without-rate-limit', 'no such limit').conflicts('rateLimit'),
  },
  run({ args, change, options, services: { config, sealer } }) {
    const { name, url, event: events, description } = options
    const headers = options.withoutHeaders ? [] : options.header
    const edit = readWebhookEdit(
      givenMembers({
        name,
        url,
        events,
        description: description === '' ? null : description,
        headers: headers && Object.fromEntries(headers.map(parseHeader)),
        rate_limit_per_second: options.withoutRateLimit ? null : options.rateLimit,
      }),
    )
    if (Object.keys(edit).length === 0) {
      throw new AppError('invalid_parameter', 'Name something to change: see --help.')
    }
    const targetPolicy = readTargetPolicy(config)
    return change((tx) => changeWebhook(tx, args.id, edit, { sealer, targetPolicy }))
  },
  json: toWebhookJson,
  text: ({ id, name }) => `Changed the webhook ${name} (${id}).`,
})

const enable = switchCommand('enable <id>', 'switch a webhook on; what was waiting goes out')
const disable = switchCommand('disable <id>', 'switch a webhook off; what is waiting is kept')

function switchCommand(name: 'enable <id>' | 'disable <id>', description: string) {
  const enabled = name === 'enable <id>'
  return databaseCommand({
    name,
    description,
    options: TARGET_OPTION,
    run({ args, change, services: { config, sealer } }) {
      const targetPolicy = readTargetPolicy(config)
      return change((tx) => changeWebhook(tx, args.id, { enabled }, { sealer, targetPolicy }))
    },
    json: toWebhookJson,
    text: (webhook) => `The webhook ${webhook.name} is ${enabled ? 'on' : 'off'}.`,
  })
}

const remove = databaseCommand({
  name: 'delete <id>',
  description: 'delete a webhook and everything queued for it',
  async run({ args: { id }, change }) {
    const { name } = await change((tx) => deleteWebhook(tx, id))
    return { id, name }
  },
  json: ({ id }) => ({ id, deleted: true }),
  text: ({ id, name }) => `Deleted the webhook ${name} (${id}).`,
})

const test = databaseCommand({
  name: 'test <id>',
  description: 'send a test event and tell what the receiver answers',
  options: TARGET_OPTION,
  async run({ args, services }) {
    // What sends, which the other commands of webhooks do not need.
    const { openOutbound } = await import('../../app/outbound.ts')
    const { createDeliverySender } = await import('../../signals/dispatch/delivery-sender.ts')
    const { testWebhook } = await import('../../signals/webhooks/test-webhook.ts')
    const { createWebhookChannel } = await import('../../signals/webhooks/webhook-channel.ts')
    const { client } = await openOutbound(services.config)
    try {
      const channels = [createWebhookChannel(services)]
      const sender = createDeliverySender({ ...services, client, channels })
      return await testWebhook(COMMAND_LINE_ORIGIN, args.id, { ...services, sender })
    } finally {
      await client.close()
    }
  },
  json: ({ isSuccess, statusCode, eventId, reason }) => ({
    success: isSuccess,
    response_code: String(statusCode),
    event_id: eventId,
    reason,
  }),
  text: ({ isSuccess, statusCode, reason }) =>
    isSuccess ? `The receiver answered ${statusCode}.` : `${reason ?? ''}.`,
  isFailed: ({ isSuccess }) => !isSuccess,
})

/** `heliograph webhooks create|list|show|update|enable|disable|delete|rotate-secret|reveal|test|...`. */
export const definition = commandGroup([
  create,
  list,
  show,
  update,
  enable,
  disable,
  remove,
  rotateSecretCommand,
  revealCommand,
  test,
  ...webhookEventCommands,
])

function parseHeader(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  const message = 'A header has the form name=value.'
  throw new AppError('invalid_parameter', message)
}

function readTargetPolicy({ allowedTargets }: Config) {
  const targets = parseAllowedTargets(allowedTargets)
  if (targets.ok) return targets.policy
  const message = `HELIOGRAPH_ALLOWED_TARGETS: ${targets.reason}`
  throw new AppError('invalid_parameter', message)
}
