/* A key on the wire. Its secret is masked; it stands in the answers alone that issue or reveal it. */
import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { linkSchema, timestampSchema, toLink } from '../../platform/wire/wire-values.ts'
import { PERMISSIONS } from '../../schema/permissions.ts'
import { KEY_PREFIX } from './api-key-secret.ts'
import type { ApiKeyWithPermissions } from './api-key-store.ts'
import { KEY_STATES, toKeyState } from './key-state.ts'

const grantedPermissionSchema = z
  .object({
    permission: z.string().meta({ examples: [PERMISSIONS[0]] }),
    rationale: z.string().describe('Why the key needs it.'),
  })
  .meta({ id: 'GrantedPermission' })

/** A key as it is listed and shown. */
export const apiKeySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    masked_secret: z
      .string()
      .describe('The beginning and the last four characters of the secret.')
      .meta({ examples: [`${KEY_PREFIX}****3fZk`] }),
    secret_last_four: z.string(),
    state: z.enum(KEY_STATES).describe('Only a live key is taken.'),
    responsible_admin: linkSchema.describe(
      'The admin who answers for the use of the key; empty for a key that ended before its admin was removed.',
    ),
    responsible_email: z.string().nullable(),
    permissions: z
      .array(grantedPermissionSchema)
      .describe('What the key may do beside reading; empty for a key that only reads.'),
    created_at: timestampSchema,
    updated_at: timestampSchema,
    expires_at: timestampSchema.nullable(),
    revoked_at: timestampSchema.nullable(),
    last_used_at: timestampSchema
      .nullable()
      .describe('A few seconds late; null for a key that was never used.'),
    rotated_from_id: z
      .string()
      .nullable()
      .describe('The key whose place it took; null when it took none.'),
  })
  .meta({ id: 'ApiKey' })

/** A key in an answer that issues or reveals it. */
export const apiKeyWithSecretSchema = z
  .object({ ...apiKeySchema.shape, secret: z.string().describe('What requests carry.') })
  .meta({ id: 'ApiKeyWithSecret' })

/** The wire form of a key at a time. */
export function toApiKeyJson(
  baseUrl: string,
  key: ApiKeyWithPermissions,
  at: Date,
): z.input<typeof apiKeySchema> {
  return toWire(apiKeySchema, key, {
    masked_secret: `${KEY_PREFIX}****${key.secretLastFour}`,
    state: toKeyState(key, at),
    responsible_admin: toLink(baseUrl, 'admin_users', key.responsibleAdminId),
  })
}
