import type { Command } from 'commander'
import { revealApiKey } from '../../organisation/api-keys/reveal-api-key.ts'
import {
  createApiKey,
  revokeApiKey,
  rotateApiKey,
} from '../../organisation/api-keys/create-api-key.ts'
import {
  listAllKeys,
  type ApiKeyWithPermissions,
  type GrantedPermission,
} from '../../organisation/api-keys/api-key-store.ts'
import { printJson, printLine, printTable, type CommandIo } from '../command-io.ts'
import { collect, parsePermission, parseTime, parseWhole } from '../parse-arguments.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'

interface CreateOptions {
  name: string
  responsible: string
  permission?: GrantedPermission[]
  expiresAt?: Date
  json?: true
}

const WEEK_SECONDS = 604_800

/** `heliograph keys create|list|reveal|rotate|revoke`. */
export function addKeyCommands(program: Command, io: CommandIo): void {
  const keys = program.command('keys').description('API keys')
  addCreate(keys, io)
  addList(keys, io)
  addReveal(keys, io)
  addRotate(keys, io)
  addRevoke(keys, io)
}

function addCreate(keys: Command, io: CommandIo): void {
  withDatabaseFlags(keys.command('create'))
    .description('create a key; it is shown once')
    .requiredOption('--name <name>', 'what the key is for')
    .requiredOption('--responsible <email>', 'the admin who answers for its use')
    .option(
      '--permission <name=rationale>',
      'a write permission and why the key needs it; may be repeated',
      collect(parsePermission),
    )
    .option('--expires-at <time>', 'when the key ends (ISO 8601)', parseTime)
    .action(async (options: CreateOptions, command: Command) => {
      await runWithServices(io, command, async ({ runChange, sealer }) => {
        const issued = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          createApiKey(change, sealer, {
            name: options.name,
            responsibleEmail: options.responsible,
            permissions: options.permission ?? [],
            expiresAt: options.expiresAt ?? null,
          }),
        )
        if (options.json) printJson(io, issued)
        else printLine(io, issued.key)
      })
    })
}

function addList(keys: Command, io: CommandIo): void {
  withDatabaseFlags(keys.command('list'))
    .description('list the keys, without their secrets')
    .action(async (options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ db, clock }) => {
        const all = await listAllKeys(db)
        if (options.json) printJson(io, all.map(toJson))
        else {
          printTable(
            io,
            ['ID', 'NAME', 'ENDS IN', 'RESPONSIBLE', 'STATE', 'LAST USED', 'PERMISSIONS'],
            all.map((key) => [
              key.id,
              key.name,
              key.secret_last_four,
              key.responsible_email,
              describeState(key, clock.now()),
              key.last_used_at?.toISOString() ?? 'never',
              key.permissions.map(({ permission }) => permission).join(', ') || 'read only',
            ]),
          )
        }
      })
    })
}

function addReveal(keys: Command, io: CommandIo): void {
  withDatabaseFlags(keys.command('reveal <id>'))
    .description('show a key again to an admin with Full Access; the audit log records it')
    .requiredOption('--admin <email>', 'the admin who asks for it')
    .action(async (id: string, options: { admin: string; json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ runChange, sealer }) => {
        const key = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          revealApiKey(change, sealer, id, options.admin),
        )
        if (options.json) printJson(io, { id, key })
        else printLine(io, key)
      })
    })
}

function addRotate(keys: Command, io: CommandIo): void {
  withDatabaseFlags(keys.command('rotate <id>'))
    .description('issue a new key in the place of an old one')
    .option(
      '--overlap-seconds <n>',
      'how long the old key keeps working',
      parseWhole(0, WEEK_SECONDS),
      86_400,
    )
    .action(
      async (id: string, options: { overlapSeconds: number; json?: true }, command: Command) => {
        await runWithServices(io, command, async ({ runChange, sealer }) => {
          const issued = await runChange(COMMAND_LINE_ORIGIN, (change) =>
            rotateApiKey(change, sealer, id, options.overlapSeconds),
          )
          if (options.json) printJson(io, issued)
          else printLine(io, issued.key)
        })
      },
    )
}

function addRevoke(keys: Command, io: CommandIo): void {
  withDatabaseFlags(keys.command('revoke <id>'))
    .description('end a key at once')
    .action(async (id: string, options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const key = await runChange(COMMAND_LINE_ORIGIN, (change) => revokeApiKey(change, id))
        if (options.json) printJson(io, { id: key.id, revoked_at: key.revoked_at })
        else printLine(io, `Revoked the API key ${key.name} (${key.id}).`)
      })
    })
}

function describeState(key: ApiKeyWithPermissions, now: Date): string {
  if (key.revoked_at !== null) return 'revoked'
  return key.expires_at !== null && key.expires_at <= now ? 'expired' : 'live'
}

function toJson(key: ApiKeyWithPermissions) {
  const { id, name, secret_last_four, permissions, created_at, last_used_at } = key
  return {
    id,
    name,
    secret_last_four,
    responsible: key.responsible_email,
    permissions,
    created_at,
    expires_at: key.expires_at,
    revoked_at: key.revoked_at,
    last_used_at,
  }
}
