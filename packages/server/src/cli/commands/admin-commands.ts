import { ADMIN_ACCESS_LEVELS, createAdmin } from '../../organisation/admins/create-admin.ts'
import { listAllAdmins, type Admin } from '../../organisation/admins/admin-store.ts'
import { toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { choiceOption, option } from '../option.ts'

const create = databaseCommand({
  name: 'create',
  description: 'create an admin',
  options: {
    email: option('--email <email>', 'email address').required(),
    firstName: option('--first-name <name>', 'first name').required(),
    lastName: option('--last-name <name>', 'last name').required(),
    access: choiceOption('--access <level>', 'what the admin may do', ADMIN_ACCESS_LEVELS).default(
      'full',
    ),
  },
  run: ({ change, options }) => change((tx) => createAdmin(tx, options)),
  json: toJson,
  text: ({ email, id }) => `Created the admin ${email} (${id}).`,
})

const list = databaseCommand({
  name: 'list',
  description: 'list the admins',
  run: ({ services }) => listAllAdmins(services.db),
  json: (admins) => admins.map(toJson),
  text: (admins) =>
    toTable(admins, {
      ID: ({ id }) => id,
      NAME: ({ first_name, last_name }) => `${first_name} ${last_name}`,
      EMAIL: ({ email }) => email,
      ACCESS: ({ access }) => access,
    }),
})

/** `heliograph admins create|list`. */
export const definition = commandGroup([create, list])

function toJson({ id, email, first_name, last_name, access, created_at }: Admin) {
  return { id, email, first_name, last_name, access, created_at }
}
