import { Option, type Command } from 'commander'
import {
  ADMIN_ACCESS_LEVELS,
  createAdmin,
  type AdminAccess,
} from '../../organisation/admins/create-admin.ts'
import { listAllAdmins, type Admin } from '../../organisation/admins/admin-store.ts'
import { printJson, printLine, printTable, type CommandIo } from '../command-io.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'

interface CreateOptions {
  email: string
  firstName: string
  lastName: string
  access: AdminAccess
  json?: true
}

/** `heliograph admins create|list`. */
export function addAdminCommands(program: Command, io: CommandIo): void {
  const admins = program.command('admins').description('Admins of the organisation')
  withDatabaseFlags(admins.command('create'))
    .description('create an admin')
    .requiredOption('--email <email>', 'email address')
    .requiredOption('--first-name <name>', 'first name')
    .requiredOption('--last-name <name>', 'last name')
    .addOption(
      new Option('--access <level>', 'what the admin may do')
        .choices(ADMIN_ACCESS_LEVELS)
        .default('full'),
    )
    .action(async (options: CreateOptions, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const admin = await runChange(COMMAND_LINE_ORIGIN, (change) => createAdmin(change, options))
        if (options.json) printJson(io, toJson(admin))
        else printLine(io, `Created the admin ${admin.email} (${admin.id}).`)
      })
    })
  withDatabaseFlags(admins.command('list'))
    .description('list the admins')
    .action(async (options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ db }) => {
        const all = await listAllAdmins(db)
        if (options.json) printJson(io, all.map(toJson))
        else {
          printTable(
            io,
            ['ID', 'NAME', 'EMAIL', 'ACCESS'],
            all.map((admin) => [
              admin.id,
              `${admin.first_name} ${admin.last_name}`,
              admin.email,
              admin.access,
            ]),
          )
        }
      })
    })
}

function toJson(admin: Admin) {
  const { id, email, first_name, last_name, access, created_at } = admin
  return { id, email, first_name, last_name, access, created_at }
}
