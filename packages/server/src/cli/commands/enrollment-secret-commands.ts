import { findOrCreatePerson } from '../../people/people/find-or-create-person.ts'
import {
  createEnrollmentSecret,
  revokeEnrollmentSecret,
} from '../../posture/enrollment/secrets/create-enrollment-secret.ts'
import {
  listAllEnrollmentSecrets,
  type ListedEnrollmentSecret,
} from '../../posture/enrollment/secrets/enrollment-secret-store.ts'
import { toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { option, parsedOption } from '../option.ts'
import { parseTime } from '../parse-arguments.ts'

const create = databaseCommand({
  name: 'create',
  description: 'create a secret; it is shown once',
  options: {
    name: option('--name <name>', 'what the secret is for').required(),
    owner: option('--owner <email>', 'register the devices that enroll with it to this person'),
    expiresAt: parsedOption('--expires-at <time>', 'when the secret ends (ISO 8601)', parseTime),
  },
  run: ({ change, options: { name, owner, expiresAt }, services }) =>
    change(async (tx) => {
      const person = owner === undefined ? null : await findOrCreatePerson(tx, { email: owner })
      return createEnrollmentSecret(tx, services.sealer, {
        name,
        personId: person?.id ?? null,
        expiresAt: expiresAt ?? null,
      })
    }),
  text: ({ secret }) => secret,
})

const list = databaseCommand({
  name: 'list',
  description: 'list the secrets, without their text',
  run: ({ services }) => listAllEnrollmentSecrets(services.db),
  json: (secrets) => secrets.map(toJson),
  text: (secrets) =>
    toTable(secrets, {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      OWNER: (secret) => secret.person_email ?? '-',
      STATE: (secret) => (secret.revoked_at === null ? 'live' : 'revoked'),
      USED: (secret) => secret.use_count,
      'LAST USED': (secret) => secret.last_used_at?.toISOString() ?? 'never',
    }),
})

const revoke = databaseCommand({
  name: 'revoke <id>',
  description: 'let no more device enroll with a secret',
  run: ({ args, change }) => change((tx) => revokeEnrollmentSecret(tx, args.id)),
  json: ({ id, revoked_at }) => ({ id, revoked_at }),
  text: ({ name, id }) => `Revoked the enrollment secret ${name} (${id}).`,
})

/** `heliograph enrollment-secrets create|list|revoke`. */
export const enrollmentSecretCommands = commandGroup([create, list, revoke])

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
