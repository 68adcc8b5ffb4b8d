import { findOrCreatePerson } from '../../people/people/find-or-create-person.ts'
import {
  ALARM_USES_PER_HOUR_DEFAULT,
  createEnrollmentSecret,
  revokeEnrollmentSecret,
} from '../../posture/enrollment/secrets/create-enrollment-secret.ts'
import {
  listAllEnrollmentSecrets,
  type ListedEnrollmentSecret,
} from '../../posture/enrollment/secrets/enrollment-secret-store.ts'
import { toSecretState, type SecretState } from '../../posture/enrollment/secrets/secret-state.ts'
import { toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { option, timeOption, wholeOption } from '../option.ts'

const USES_MAX = 1_000_000_000

const create = databaseCommand({
  name: 'create',
  description: 'create a secret; it is shown once',
  options: {
    name: option('--name <name>', 'what the secret is for').required(),
    owner: option('--owner <email>', 'register the devices that enroll with it to this person'),
    expiresAt: timeOption('--expires-at <time>', 'when the secret ends (ISO 8601)'),
    maxUses: wholeOption('--max-uses <n>', 'how many enrollments the secret is good for', USES_MAX),
    alarmPerHour: wholeOption(
      '--alarm-per-hour <n>',
      'tell admins of more uses than this within an hour; 0 never does',
      USES_MAX,
      0,
    ).default(ALARM_USES_PER_HOUR_DEFAULT),
  },
  run: ({ change, options: { name, owner, expiresAt, maxUses, alarmPerHour }, services }) =>
    change(async (tx) => {
      const person = owner === undefined ? null : await findOrCreatePerson(tx, { email: owner })
      return createEnrollmentSecret(tx, services.sealer, {
        name,
        personId: person?.id ?? null,
        expiresAt: expiresAt ?? null,
        usesMax: maxUses ?? null,
        alarmUsesPerHour: alarmPerHour === 0 ? null : alarmPerHour,
      })
    }),
  text: ({ secret }) => secret,
})

const list = databaseCommand({
  name: 'list',
  description: 'list the secrets, without their text',
  run: async ({ services: { db, clock } }) =>
    (await listAllEnrollmentSecrets(db)).map((secret) => ({
      ...secret,
      state: toSecretState(secret, clock.now()),
    })),
  json: (secrets) => secrets.map(toJson),
  text: (secrets) =>
    toTable(secrets, {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      OWNER: (secret) => secret.personEmail ?? '-',
      STATE: ({ state }) => state.replaceAll('_', ' '),
      ENDS: (secret) => secret.expiresAt?.toISOString() ?? 'never',
      USED: ({ useCount, usesMax }) => (usesMax === null ? useCount : `${useCount} of ${usesMax}`),
      'LAST USED': (secret) => secret.lastUsedAt?.toISOString() ?? 'never',
      'UNUSUAL USE': (secret) => secret.unusualUseAt?.toISOString() ?? '-',
    }),
})

const revoke = databaseCommand({
  name: 'revoke <id>',
  description: 'let no more device enroll with a secret',
  run: ({ args, change }) => change((tx) => revokeEnrollmentSecret(tx, args.id)),
  json: ({ id, revokedAt }) => ({ id, revoked_at: revokedAt }),
  text: ({ name, id }) => `Revoked the enrollment secret ${name} (${id}).`,
})

/** `heliograph enrollment-secrets create|list|revoke`. */
export const definition = commandGroup([create, list, revoke])

function toJson(secret: ListedEnrollmentSecret & { readonly state: SecretState }) {
  const toCount = (count: string | null) => (count === null ? null : Number(count))
  return {
    id: secret.id,
    name: secret.name,
    owner: secret.personEmail,
    created_at: secret.createdAt,
    expires_at: secret.expiresAt,
    revoked_at: secret.revokedAt,
    last_used_at: secret.lastUsedAt,
    use_count: Number(secret.useCount),
    state: secret.state,
    uses_max: toCount(secret.usesMax),
    alarm_uses_per_hour: toCount(secret.alarmUsesPerHour),
    unusual_use_at: secret.unusualUseAt,
  }
}
