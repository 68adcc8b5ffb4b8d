/*
 * Watches that this process has the master keys under which the secrets of the database are sealed. A change of the
 * key that missed a process shows here, and not when a receiver or an admin needs a secret.
 */
import type { ServicePart } from '../changes/foundation.ts'
import { askingDatabase } from '../platform/http/health.ts'
import type { MasterKeys } from '../platform/secrets/master-key.ts'
import { countSealedSecrets } from '../platform/secrets/reseal-secrets.ts'
import { periodicJob } from '../schema/jobs.ts'
import { PROCESS_ROLES } from '../schema/process-role.ts'
import { SEALED_COLUMNS } from '../schema/sealed-columns.ts'
import { assertMasterKeyFits, type MasterKeyUse } from './assert-master-key-fits.ts'

export interface MasterKeyDependencies extends MasterKeyUse {
  readonly masterKeys: MasterKeys
}

/** Not looked at: there can be many, and each ends within a day. */
const SHORT_LIVED = 'idempotency_record'

/** A process without the present key is not ready; secrets under keys that it does not have are told in its log. */
export function createMasterKeyPart(dependencies: MasterKeyDependencies): ServicePart {
  return {
    name: 'master key',
    roles: PROCESS_ROLES,
    health: askingDatabase(() => assertMasterKeyFits(dependencies)),
    jobs: [periodicJob('master key', () => assertSecretsOpen(dependencies))],
  }
}

async function assertSecretsOpen({ db, masterKeys }: MasterKeyDependencies): Promise<void> {
  const { current, previous } = masterKeys
  const known = new Set([current, ...previous].map(({ id }) => id.toString('hex')))
  const columns = SEALED_COLUMNS.filter(({ table }) => table !== SHORT_LIVED)
  const counts = await countSealedSecrets({ db, columns })
  const unknown = counts.filter(({ keyId }) => !known.has(keyId))
  if (unknown.length === 0) return
  const secrets = unknown.map(
    ({ table, column, keyId, count }) => `${count} in ${table}.${column} under ${keyId}`,
  )
  throw new Error(
    `there are secrets that no master key of this process opens: ${secrets.join(', ')}; give their key behind the present one, restart, and run \`heliograph secrets reseal\``,
  )
}
