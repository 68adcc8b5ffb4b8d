import { createHash } from 'node:crypto'
import { newSecret } from '../../platform/ids.ts'

/** The name of a client, which is public. */
export function generateClientId(): string {
  return `ssfc_${newSecret(15)}`
}

/** A secret of 256 random bits: no dictionary holds it, so that its plain hash keeps it. */
export function generateClientSecret(): string {
  return `ssfs_${newSecret(32)}`
}

/** SHA-256 of a client secret or an access token, by which it is known. */
export function hashCredential(credential: string): Buffer {
  return createHash('sha256').update(credential).digest()
}
