import { Option, type Command } from 'commander'
import { openOutbound } from '../../app/outbound.ts'
import { findAdminByEmail } from '../../organisation/admins/find-admin.ts'
import { AppError } from '../../platform/app-error.ts'
import { parseAllowedTargets } from '../../platform/net/target-policy.ts'
import { createWebhook } from '../../signals/webhooks/create-webhook.ts'
import { deleteWebhook } from '../../signals/webhooks/delete-webhook.ts'
import { revealWebhookSecret } from '../../signals/webhooks/reveal-webhook-secret.ts'
import { rotateWebhookSecret } from '../../signals/webhooks/rotate-webhook-secret.ts'
import { testWebhook } from '../../signals/webhooks/test-webhook.ts'
import { changeWebhook } from '../../signals/webhooks/update-webhook.ts'
import {
  RATE_LIMIT_MAX,
  readNewWebhook,
  SIGNING_FORMS,
} from '../../signals/webhooks/webhook-input.ts'
import { toWebhookJson } from '../../signals/webhooks/webhook-json.ts'
import { getWebhookRecord, listWebhooks } from '../../signals/webhooks/webhook-store.ts'
import { EXIT_CODES, printJson, printLine, printTable, type CommandIo } from '../command-io.ts'
import { parseTime, parseWhole } from '../parse-arguments.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'
import { SETTINGS, toFlag } from '../../app/config/settings.ts'
import type { Config } from '../../app/config/load-config.ts'
import { addWebhookEventCommands } from './webhook-event-commands.ts'

interface JsonOption {
  json?: true
}

interface CreateOptions extends JsonOption {
  name: string
  url: string
  event: string[]
  signing: (typeof SIGNING_FORMS)[number]
  description?: string
  header?: string[]
  rateLimit?: number
}

/** More webhooks than any limit allows. */
const SHOWN_MAX = 10_000

/** `heliograph webhooks create|list|show|enable|disable|delete|rotate-secret|reveal|test|...`. */
export function addWebhookCommands(program: Command, io: CommandIo): void {
  const webhooks = program
    .command('webhooks')
    .description('addresses that are told of events as they happen')
  addCreate(webhooks, io)
  addList(webhooks, io)
  addShow(webhooks, io)
  addSwitch(webhooks, io, 'enable')
  addSwitch(webhooks, io, 'disable')
  addDelete(webhooks, io)
  addRotate(webhooks, io)
  addReveal(webhooks, io)
  addTest(webhooks, io)
  addWebhookEventCommands(webhooks, io)
}

/** Where deliveries may go is the same for commands as for the service that makes them. */
function withTargetFlag(command: Command): Command {
  const { env, description } = SETTINGS.allowedTargets
  return withDatabaseFlags(command).option(`${toFlag(env)} <value>`, `${description} [${env}]`)
}

function addCreate(webhooks: Command, io: CommandIo): void {
  withTargetFlag(webhooks.command('create'))
    .description('create a webhook; its secret is shown')
    .requiredOption('--name <name>', 'what it is for')
    .requiredOption('--url <url>', 'where events are posted')
    .requiredOption('--event <event...>', 'an event that it is told of; may be repeated')
    .addOption(
      new Option('--signing <form>', 'how deliveries are signed')
        .choices(SIGNING_FORMS)
        .default('standard'),
    )
    .option('--description <text>', 'more about it')
    .option('--header <name=value...>', 'a header that is sent with every delivery')
    .option(
      '--rate-limit <n>',
      'how many deliveries per second it gets at most',
      parseWhole(1, RATE_LIMIT_MAX),
    )
    .action(async (options: CreateOptions, command: Command) => {
      await runWithServices(io, command, async ({ config, runChange, sealer }) => {
        const input = readNewWebhook({
          name: options.name,
          url: options.url,
          events: options.event,
          signing: options.signing,
          headers: Object.fromEntries((options.header ?? []).map(parseHeader)),
          rate_limit_per_second: options.rateLimit ?? null,
          ...(options.description === undefined ? {} : { description: options.description }),
        })
        const { webhook, secret } = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          createWebhook(change, input, {
            sealer,
            targetPolicy: readTargetPolicy(config),
            webhooksMax: config.webhooksMax,
          }),
        )
        const { id, public_key: publicKey } = webhook
        const key = publicKey === null ? {} : { public_key: publicKey }
        if (options.json) printJson(io, { id, secret, ...key })
        else printLine(io, secret ?? publicKey ?? '')
      })
    })
}

function addList(webhooks: Command, io: CommandIo): void {
  withDatabaseFlags(webhooks.command('list'))
    .description('list the webhooks')
    .action(async (options: JsonOption, command: Command) => {
      await runWithServices(io, command, async ({ clock, db }) => {
        const rows = await listWebhooks(db, { afterId: undefined, limit: SHOWN_MAX }, clock.now())
        if (options.json) {
          printJson(io, rows.map(toWebhookJson))
          return
        }
        printTable(
          io,
          ['ID', 'NAME', 'STATE', 'WAITING', 'DEAD', 'URL', 'EVENTS'],
          rows.map((row) => [
            row.id,
            row.name,
            row.enabled ? 'on' : `off (${row.disabled_reason ?? ''})`,
            String(row.queued_count),
            String(row.dead_count),
            row.url,
            row.events.join(', '),
          ]),
        )
      })
    })
}

function addShow(webhooks: Command, io: CommandIo): void {
  withDatabaseFlags(webhooks.command('show <id>'))
    .description('show a webhook, without its secret')
    .action(async (id: string, options: JsonOption, command: Command) => {
      await runWithServices(io, command, async ({ clock, db }) => {
        const shown = toWebhookJson(await getWebhookRecord(db, id, clock.now()))
        if (options.json) printJson(io, shown)
        else {
          for (const [name, value] of Object.entries(shown)) {
            printLine(io, `${name}: ${Array.isArray(value) ? value.join(', ') : String(value)}`)
          }
        }
      })
    })
}

function addSwitch(webhooks: Command, io: CommandIo, word: 'enable' | 'disable'): void {
  const isEnabled = word === 'enable'
  withTargetFlag(webhooks.command(`${word} <id>`))
    .description(
      isEnabled
        ? 'switch a webhook on; what was waiting goes out'
        : 'switch a webhook off; what is waiting is kept',
    )
    .action(async (id: string, options: JsonOption, command: Command) => {
      await runWithServices(io, command, async ({ config, runChange, sealer }) => {
        const webhook = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          changeWebhook(
            change,
            id,
            { enabled: isEnabled },
            { sealer, targetPolicy: readTargetPolicy(config), wake: () => undefined },
          ),
        )
        if (options.json) printJson(io, toWebhookJson(webhook))
        else printLine(io, `The webhook ${webhook.name} is ${isEnabled ? 'on' : 'off'}.`)
      })
    })
}

function addDelete(webhooks: Command, io: CommandIo): void {
  withDatabaseFlags(webhooks.command('delete <id>'))
    .description('delete a webhook and everything queued for it')
    .action(async (id: string, options: JsonOption, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const { name } = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          deleteWebhook(change, id, () => undefined),
        )
        if (options.json) printJson(io, { id, deleted: true })
        else printLine(io, `Deleted the webhook ${name} (${id}).`)
      })
    })
}

interface RotateOptions extends JsonOption {
  immediate?: true
  oldSecretEndsAt?: Date
}

function addRotate(webhooks: Command, io: CommandIo): void {
  withDatabaseFlags(webhooks.command('rotate-secret <id>'))
    .description('give a webhook a new secret; the old one signs too for 24 hours')
    .addOption(
      new Option('--immediate', 'end the old secrets at once').conflicts('oldSecretEndsAt'),
    )
    .option('--old-secret-ends-at <time>', 'end the old secret then (ISO 8601)', parseTime)
    .action(async (id: string, options: RotateOptions, command: Command) => {
      await runWithServices(io, command, async ({ runChange, sealer }) => {
        const { webhook, secret } = await runChange(COMMAND_LINE_ORIGIN, (change) => {
          const endsAt = options.immediate === true ? change.at : options.oldSecretEndsAt
          return rotateWebhookSecret(change, id, endsAt, sealer)
        })
        const { public_key: publicKey, old_secrets_end_at: endsAt } = webhook
        const key = publicKey === null ? {} : { public_key: publicKey }
        if (options.json) printJson(io, { id, secret, old_secrets_end_at: endsAt, ...key })
        else printLine(io, secret ?? publicKey ?? '')
      })
    })
}

function addReveal(webhooks: Command, io: CommandIo): void {
  withDatabaseFlags(webhooks.command('reveal <id>'))
    .description('show the secret to an admin with Full Access; the audit log records it')
    .requiredOption('--admin <email>', 'the admin who asks for it')
    .action(async (id: string, options: { admin: string; json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ runChange, sealer }) => {
        const revealed = await runChange(COMMAND_LINE_ORIGIN, async (change) => {
          const admin = await findAdminByEmail(change.tx, options.admin)
          if (admin?.access !== 'full') {
            const message = 'Secrets are shown to admins with Full Access only.'
            throw new AppError('forbidden', 'permission_missing', message)
          }
          return revealWebhookSecret(change, id, sealer, admin.email)
        })
        const { secret, publicKey } = revealed
        if (options.json) printJson(io, { id, secret, public_key: publicKey })
        else printLine(io, secret ?? publicKey ?? '')
      })
    })
}

function addTest(webhooks: Command, io: CommandIo): void {
  withTargetFlag(webhooks.command('test <id>'))
    .description('send a test event and tell what the receiver answers')
    .action(async (id: string, options: JsonOption, command: Command) => {
      await runWithServices(io, command, async (services) => {
        const { client } = await openOutbound(services.config)
        try {
          const result = await testWebhook(COMMAND_LINE_ORIGIN, id, { ...services, client })
          const { isSuccess, statusCode, eventId, reason } = result
          if (options.json) {
            printJson(io, {
              success: isSuccess,
              response_code: String(statusCode),
              event_id: eventId,
              reason,
            })
          } else {
            printLine(io, isSuccess ? `The receiver answered ${statusCode}.` : `${reason ?? ''}.`)
          }
          if (!isSuccess) io.setExitCode(EXIT_CODES.failed)
        } finally {
          await client.close()
        }
      })
    })
}

function parseHeader(text: string): [name: string, value: string] {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  const message = 'A header has the form name=value.'
  throw new AppError('invalid', 'invalid_parameter', message)
}

function readTargetPolicy({ allowedTargets }: Config) {
  const targets = parseAllowedTargets(allowedTargets)
  if (targets.ok) return targets.policy
  const message = `HELIOGRAPH_ALLOWED_TARGETS: ${targets.reason}`
  throw new AppError('invalid', 'invalid_parameter', message)
}
