import type { Kysely } from 'kysely'
import { UnsealError, type Sealer } from '../platform/secrets/sealed-box.ts'
import type { Schema } from '../schema/schema.ts'
import { assertSigningKeysOpen } from '../signals/signing/signing-keys.ts'
import type { Config } from './config/load-config.ts'
import { toMasterKeyError } from './master-keys.ts'

/** Whose secrets they are, and what would open them. */
export interface MasterKeyUse {
  readonly config: Config
  readonly db: Kysely<Schema>
  readonly sealer: Sealer
}

/**
 * Makes sure that this process can open what is sealed in the database. Under another master key, what it seals
 * could be opened by nobody else, and the reverse.
 *
 * @throws ConfigError
 */
export async function assertMasterKeyFits({ config, db, sealer }: MasterKeyUse): Promise<void> {
  try {
    await assertSigningKeysOpen(db, sealer)
  } catch (error) {
    throw error instanceof UnsealError ? toMasterKeyError(config) : error
  }
}
