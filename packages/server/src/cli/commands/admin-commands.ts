import { ADMIN_ACCESS_LEVELS, createAdmin } from '../../organisation/admins/create-admin.ts'
import { toConsoleSite, toSignInAddress } from '../../organisation/admin-sign-in/console-site.ts'
import { issueLink } from '../../organisation/admin-sign-in/sign-in-link.ts'
import { SETTINGS } from '../../app/config/settings.ts'
import type { Change } from '../../changes/change.ts'
import {
  findAdminByEmail,
  getAdminByEmail,
  listAllAdmins,
  type Admin,
} from '../../organisation/admins/admin-store.ts'
import {
  changeAdmin,
  removeAdmin,
  type ChangedAdmin,
} from '../../organisation/admins/change-admin.ts'
import { setOrganisation } from '../../organisation/settings/set-organisation.ts'
import { toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { choiceOption, option, repeatedOption } from '../option.ts'
import { parseRestriction } from '../parse-arguments.ts'
import { settingOption } from '../run-command.ts'

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
      NAME: ({ firstName, lastName }) => `${firstName} ${lastName}`,
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
    restriction: repeatedOption(
      '--restriction <name>',
      'what an admin with limited access may not do, or none; may be repeated',
      parseRestriction,
    ),
    keysTo: keysToOption,
  },
  run: ({ args, change, options: { keysTo, restriction, ...edit } }) =>
    change(async (tx) => {
      const admin = await getAdminByEmail(tx.tx, args.email)
      const restrictions = restriction?.filter((name) => name !== 'none')
      return changeAdmin(tx, admin.id, { ...edit, restrictions, keysTo: await idOf(tx, keysTo) })
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
      return removeAdmin(tx, admin.id, { keysTo: await idOf(tx, options.keysTo) })
    }),
  json: toChangedJson,
  text: ({ admin, ...keys }) => `Removed the admin ${admin.email}.${describeKeys(keys)}`,
})

const link = databaseCommand({
  name: 'link',
  description: 'make a link by which an admin signs in to the console, once and within 24 hours',
  options: {
    email: option('--email <email>', 'email address of the admin').required(),
    name: option(
      '--name <name>',
      'first and last name: an admin with this address is made, with Full Access, if there is none',
    ),
    baseUrl: settingOption(SETTINGS.baseUrl),
  },
  run: async ({ change, options: { email, name }, services: { config } }) => {
    const site = toConsoleSite(config.baseUrl)
    return change(async (tx) => {
      const found = await findAdminByEmail(tx.tx, email)
      const admin = found ?? (await createNamed(tx, email, name))
      const { token, expiresAt } = await issueLink(tx, admin, found ? 'recovery' : 'first_admin')
      const url = toSignInAddress(site, token)
      return { email: admin.email, url, expires_at: expiresAt.toISOString() }
    })
  },
  text: ({ email, url, expires_at }) => [
    `The link signs ${email} in, once and until ${expires_at}:`,
    url,
    // A service on a machine of its own is often started with a port of its own.
    ...(isLocal(url)
      ? ['Where the service answers at another address, make the link with --base-url.']
      : []),
  ],
})

const allowAnyDevice = databaseCommand({
  name: 'allow-any-device',
  description: 'let admins use the console from any device again, when nobody can use it any more',
  run: ({ change, services }) =>
    change((tx) =>
      setOrganisation(tx, { isTrustedDeviceRequired: false }, services.reevaluateAllDevices),
    ),
  json: ({ adminsRequireTrustedDevice }) => ({
    admins_require_trusted_device: adminsRequireTrustedDevice,
  }),
  text: () => 'Admins may use the console from any device.',
})

/** `heliograph admins allow-any-device|create|link|list|update|remove`. */
export const definition = commandGroup([allowAnyDevice, create, link, list, update, remove])

function isLocal(url: string): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname)
}

/** Whoever has one name only is called by it. */
async function createNamed(
  change: Change,
  email: string,
  name: string | undefined,
): Promise<Admin> {
  if (name === undefined) return getAdminByEmail(change.tx, email)
  const [firstName = '', ...rest] = name.trim().split(/\s+/)
  const lastName = rest.length === 0 ? firstName : rest.join(' ')
  return createAdmin(change, { email, firstName, lastName, access: 'full' })
}

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

function toJson({ id, email, firstName, lastName, access, createdAt }: Admin) {
  return { id, email, first_name: firstName, last_name: lastName, access, created_at: createdAt }
}
