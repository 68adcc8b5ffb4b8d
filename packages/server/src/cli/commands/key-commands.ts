import {
  listAllKeys,
  type ApiKeyWithPermissions,
} from '../../organisation/api-keys/api-key-store.ts'
import {
  createApiKey,
  revokeApiKey,
  rotateApiKey,
} from '../../organisation/api-keys/create-api-key.ts'
import { toKeyState } from '../../organisation/api-keys/key-state.ts'
import { revealApiKey } from '../../organisation/api-keys/reveal-api-key.ts'
import { toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { option, repeatedOption, timeOption, wholeOption } from '../option.ts'
import { parsePermission } from '../parse-arguments.ts'

const WEEK_SECONDS = 604_800

const create = databaseCommand({
  name: 'create',
  description: 'create a key; it is shown once',
  options: {
    name: option('--name <name>', 'what the key is for').required(),
    responsible: option('--responsible <email>', 'the admin who answers for its use').required(),
    permission: repeatedOption(
      '--permission <name=rationale>',
      'a write permission and why the key needs it; may be repeated',
      parsePermission,
    ),
    expiresAt: timeOption('--expires-at <time>', 'when the key ends (ISO 8601)'),
  },
  run: ({ change, options, services }) =>
    change((tx) =>
      createApiKey(tx, services.sealer, {
        name: options.name,
        responsibleEmail: options.responsible,
        permissions: options.permission ?? [],
        expiresAt: options.expiresAt ?? null,
      }),
    ),
  text: ({ key }) => key,
})

const list = databaseCommand({
  name: 'list',
  description: 'list the keys, without their secrets',
  run: ({ services }) => listAllKeys(services.db),
  json: (keys) => keys.map(toJson),
  text: (keys, { services }) =>
    toTable(keys, {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      'ENDS IN': (key) => key.secretLastFour,
      RESPONSIBLE: (key) => key.responsibleEmail ?? 'nobody',
      STATE: (key) => toKeyState(key, services.clock.now()),
      'LAST USED': (key) => key.lastUsedAt?.toISOString() ?? 'never',
      PERMISSIONS: ({ permissions }) =>
        permissions.map(({ permission }) => permission).join(', ') || 'read only',
    }),
})

const reveal = databaseCommand({
  name: 'reveal <id>',
  description: 'show a key again to an admin with Full Access; the audit log records it',
  options: { admin: option('--admin <email>', 'the admin who asks for it').required() },
  run: async ({ args: { id }, change, options, services }) => ({
    id,
    key: await change((tx) => revealApiKey(tx, services.sealer, id, options.admin)),
  }),
  text: ({ key }) => key,
})

const rotate = databaseCommand({
  name: 'rotate <id>',
  description: 'issue a new key in the place of an old one',
  options: {
    overlapSeconds: wholeOption(
      '--overlap-seconds <n>',
      'how long the old key keeps working',
      WEEK_SECONDS,
      0,
    ).default(86_400),
  },
  run: ({ args, change, options, services }) =>
    change((tx) => rotateApiKey(tx, services.sealer, args.id, options.overlapSeconds)),
  text: ({ key }) => key,
})

const revoke = databaseCommand({
  name: 'revoke <id>',
  description: 'end a key at once',
  run: ({ args, change }) => change((tx) => revokeApiKey(tx, args.id)),
  json: ({ id, revokedAt: revoked_at }) => ({ id, revoked_at }),
  text: ({ name, id }) => `Revoked the API key ${name} (${id}).`,
})

/** `heliograph keys create|list|reveal|rotate|revoke`. */
export const definition = commandGroup([create, list, reveal, rotate, revoke])

function toJson(key: ApiKeyWithPermissions) {
  const {
    id,
    name,
    secretLastFour: secret_last_four,
    permissions,
    createdAt: created_at,
    lastUsedAt: last_used_at,
  } = key
  return {
    id,
    name,
    secret_last_four,
    responsible: key.responsibleEmail,
    permissions,
    created_at,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    last_used_at,
  }
}
