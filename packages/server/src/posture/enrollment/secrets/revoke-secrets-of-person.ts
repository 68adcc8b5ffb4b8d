import type { Change } from '../../../changes/change.ts'
import { revokeEnrollmentSecret } from './create-enrollment-secret.ts'
import { listLiveSecretIdsOfPerson } from './enrollment-secret-store.ts'

/** Ends every enrollment secret that registers devices to a person. Idempotent. */
export async function revokeSecretsOfPerson(change: Change, personId: string): Promise<void> {
  for (const secretId of await listLiveSecretIdsOfPerson(change.tx, personId)) {
    await revokeEnrollmentSecret(change, secretId)
  }
}
