import { createAdmin } from '../../src/organisation/admins/create-admin.ts'
import { createApiKey } from '../../src/organisation/api-keys/create-api-key.ts'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import type { RunChange } from '../../src/changes/change.ts'
import type { Permission } from '../../src/schema/permissions.ts'
import { newSecret } from '../../src/platform/ids.ts'
import type { Sealer } from '../../src/platform/secrets/sealed-box.ts'

const KEY_ADMIN_EMAIL = 'grace@example.com'

/** Creates the admin who is responsible for every key of {@link createTestKey}; once a database. */
export async function createKeyAdmin(runChange: RunChange): Promise<void> {
  await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    createAdmin(change, {
      email: KEY_ADMIN_EMAIL,
      firstName: 'Grace',
      lastName: 'Hopper',
      access: 'full',
    }),
  )
}

/** The secret of a new key with these permissions; the admin of the keys must exist. */
export async function createTestKey(
  { runChange, sealer }: { readonly runChange: RunChange; readonly sealer: Sealer },
  permissions: readonly Permission[],
): Promise<string> {
  const { key } = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    createApiKey(change, sealer, {
      name: `key ${newSecret(6)}`,
      responsibleEmail: KEY_ADMIN_EMAIL,
      permissions: permissions.map((permission) => ({ permission, rationale: 'A test.' })),
      expiresAt: null,
    }),
  )
  return key
}
