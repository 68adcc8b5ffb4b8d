import { findAdminByEmail, hasFullAccess } from '../../organisation/admins/find-admin.ts'
import { AppError } from '../../platform/app-error.ts'
import { revealWebhookSecret, rotateWebhookSecret } from '../../signals/webhooks/webhook-secrets.ts'
import { databaseCommand } from '../command.ts'
import { flag, option, timeOption } from '../option.ts'

/** `heliograph webhooks rotate-secret`. */
export const rotateSecretCommand = databaseCommand({
  name: 'rotate-secret <id>',
  description: 'give a webhook a new secret; the old one signs too for 24 hours',
  options: {
    immediate: flag('--immediate', 'end the old secrets at once').conflicts('oldSecretEndsAt'),
    oldSecretEndsAt: timeOption(
      '--old-secret-ends-at <time>',
      'end the old secret then (ISO 8601)',
    ),
  },
  run: ({ args, change, options, services }) =>
    change((tx) => {
      const endsAt = options.immediate === true ? tx.at : options.oldSecretEndsAt
      return rotateWebhookSecret(tx, args.id, endsAt, services.sealer)
    }),
  json: (
    { webhook: { publicKey: public_key, oldSecretsEndAt: old_secrets_end_at }, secret },
    { args },
  ) => ({
    id: args.id,
    secret,
    old_secrets_end_at,
    ...(public_key === null ? {} : { public_key }),
  }),
  text: ({ webhook, secret }) => toSecretText(secret, webhook.publicKey),
})

/** `heliograph webhooks reveal`. */
export const revealCommand = databaseCommand({
  name: 'reveal <id>',
  description: 'show the secret to an admin with Full Access; the audit log records it',
  options: { admin: option('--admin <email>', 'the admin who asks for it').required() },
  run: ({ args, change, options, services }) =>
    change(async (tx) => {
      const admin = await findAdminByEmail(tx.tx, options.admin)
      if (admin === undefined || !hasFullAccess(admin)) {
        const message = 'Secrets are shown to admins with Full Access only.'
        throw new AppError('permission_missing', message)
      }
      return revealWebhookSecret(tx, args.id, services.sealer, admin.email)
    }),
  json: ({ secret, publicKey }, { args }) => ({ id: args.id, secret, public_key: publicKey }),
  text: ({ secret, publicKey }) => toSecretText(secret, publicKey),
})

/** What a receiver needs: the secret, or the public key of a webhook that signs with its own. */
export function toSecretText(secret: string | null, publicKey: string | null): string {
  return secret ?? publicKey ?? ''
}
