import { ADMIN_ACCESS_LEVELS, createAdmin } from '../../organisation/admins/create-admin.ts'
import type { Change } from '../../changes/change.ts'
import {
  getAdminByEmail,
  listAllAdmins,
  type Admin,
} from '../../organisation/admins/admin-store.ts'
import {
  changeAdmin,
  removeAdmin,
  type ChangedAdmin,
} from '../../organisation/admins/change-admin.ts'
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

const keysToOption = option(
  '--keys-to <email>',
  'the admin who answers for the API keys from now on; without it, they end at once when this admin has no Full Access any more',
)

const update = databaseCommand({
  name: 'update <email>',
  description: 'change the name of an admin, or what the admin may do',
  options: {
    firstName: option('--first-name <name>', 'first name'),
    lastName: option('--last-name <name>', 'last name'),
    access: choiceOption('--access <level>', 'what the admin may do', ADMIN_ACCESS_LEVELS),
    keysTo: keysToOption,
  },
  run: ({ args, change, options: { keysTo, ...edit } }) =>
    change(async (tx) => {
      const admin = await getAdminByEmail(tx.tx, args.email)
      return changeAdmin(tx, admin.id, { ...edit, keysTo: await idOf(tx, keysTo) })
    }),
  json: toChangedJson,
  text: ({ admin, ...keys }) =>
    `Changed the admin ${admin.email} (${admin.access} access).${describeKeys(keys)}`,
})

const remove = databaseCommand({
  name: 'remove <email>',
  description: 'remove an admin',
  options: { keysTo: keysToOption },
  run: ({ args, change, options }) =>
    change(async (tx) => {
      const admin = await getAdminByEmail(tx.tx, args.email)
      return removeAdmin(tx, admin.id, await idOf(tx, options.keysTo))
    }),
  json: toChangedJson,
  text: ({ admin, ...keys }) => `Removed the admin ${admin.email}.${describeKeys(keys)}`,
})

/** `heliograph admins create|list|update|remove`. */
export const definition = commandGroup([create, list, update, remove])

async function idOf({ tx }: Change, email: string | undefined): Promise<string | undefined> {
  return email === undefined ? undefined : (await getAdminByEmail(tx, email)).id
}

function describeKeys({ revokedKeyIds, handedOverKeyIds }: Omit<ChangedAdmin, 'admin'>): string {
  if (revokedKeyIds.length > 0) return ` Revoked the API keys ${revokedKeyIds.join(', ')}.`
  if (handedOverKeyIds.length > 0)
    return ` Handed over the API keys ${handedOverKeyIds.join(', ')}.`
  return ''
}

function toChangedJson({ admin, revokedKeyIds, handedOverKeyIds }: ChangedAdmin) {
  return {
    ...toJson(admin),
    revoked_api_key_ids: revokedKeyIds,
    handed_over_api_key_ids: handedOverKeyIds,
  }
}

function toJson({ id, email, first_name, last_name, access, created_at }: Admin) {
  return { id, email, first_name, last_name, access, created_at }
}
