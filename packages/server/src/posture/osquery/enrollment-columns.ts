import type { Change } from '../../changes/change.ts'
import { newSecret } from '../../platform/ids.ts'
import type { LiveSecret } from './enrollment-store.ts'
import { hashNodeKey } from './node-cache.ts'

const NODE_KEY_BYTES = 32

/** A new node key, and the columns of a device that every enrollment writes. */
export function toEnrollmentColumns({ at, origin }: Change, secret: LiveSecret) {
  const nodeKey = newSecret(NODE_KEY_BYTES)
  const columns = {
    enrollmentSecretId: secret.id,
    enrolledAt: at,
    enrolledFrom: origin.ipAddress ?? null,
    nodeKeyHash: hashNodeKey(nodeKey),
    updatedAt: at,
  }
  return { nodeKey, columns }
}
