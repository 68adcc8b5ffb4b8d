import type { Command } from 'commander'
import {
  createEnrollmentSecret,
  revokeEnrollmentSecret,
} from '../../posture/enrollment/secrets/create-enrollment-secret.ts'
import {
  listAllEnrollmentSecrets,
  type ListedEnrollmentSecret,
} from '../../posture/enrollment/secrets/enrollment-secret-store.ts'
import { findOrCreatePerson } from '../../people/people/find-or-create-person.ts'
import { printJson, printLine, printTable, type CommandIo } from '../command-io.ts'
import { parseTime } from '../parse-arguments.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'

interface CreateOptions {
  name: string
  owner?: string
  expiresAt?: Date
  json?: true
}

/** `heliograph enrollment-secrets create|list|revoke`. */
export function addEnrollmentSecretCommands(program: Command, io: CommandIo): void {
  const secrets = program
    .command('enrollment-secrets')
    .description('Secrets that devices enroll with')
  addCreate(secrets, io)
  withDatabaseFlags(secrets.command('list'))
    .description('list the secrets, without their text')
    .action(async (options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ db }) => {
        const all = await listAllEnrollmentSecrets(db)
        if (options.json) printJson(io, all.map(toJson))
        else {
          printTable(
            io,
            ['ID', 'NAME', 'OWNER', 'STATE', 'USED', 'LAST USED'],
            all.map((secret) => [
              secret.id,
              secret.name,
              secret.person_email ?? '-',
              secret.revoked_at === null ? 'live' : 'revoked',
              secret.use_count,
              secret.last_used_at?.toISOString() ?? 'never',
            ]),
          )
        }
      })
    })
  withDatabaseFlags(secrets.command('revoke <id>'))
    .description('let no more device enroll with a secret')
    .action(async (id: string, options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const secret = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          revokeEnrollmentSecret(change, id),
        )
        if (options.json) printJson(io, { id: secret.id, revoked_at: secret.revoked_at })
        else printLine(io, `Revoked the enrollment secret ${secret.name} (${secret.id}).`)
      })
    })
}

function addCreate(secrets: Command, io: CommandIo): void {
  withDatabaseFlags(secrets.command('create'))
    .description('create a secret; it is shown once')
    .requiredOption('--name <name>', 'what the secret is for')
    .option('--owner <email>', 'register the devices that enroll with it to this person')
    .option('--expires-at <time>', 'when the secret ends (ISO 8601)', parseTime)
    .action(async (options: CreateOptions, command: Command) => {
      await runWithServices(io, command, async ({ runChange, sealer }) => {
        const created = await runChange(COMMAND_LINE_ORIGIN, async (change) => {
          const person =
            options.owner === undefined
              ? null
              : await findOrCreatePerson(change, { email: options.owner })
          return createEnrollmentSecret(change, sealer, {
            name: options.name,
            personId: person?.id ?? null,
            expiresAt: options.expiresAt ?? null,
          })
        })
        if (options.json) printJson(io, created)
        else printLine(io, created.secret)
      })
    })
}

function toJson(secret: ListedEnrollmentSecret) {
  const { id, name, person_email, created_at, expires_at, revoked_at, last_used_at } = secret
  return {
    id,
    name,
    owner: person_email,
    created_at,
    expires_at,
    revoked_at,
    last_used_at,
    use_count: Number(secret.use_count),
  }
}
