import { newSecret } from '../../platform/ids.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'

/** The name of an application that signs people in, which is public. */
export function generateApplicationId(): string {
  return `hga_${newSecret(15)}`
}

/** A secret of 256 random bits. */
export function generateApplicationSecret(): string {
  return `hgs_${newSecret(32)}`
}

/** The secret is sealed for its client. */
function contextOf(clientId: string) {
  return { table: 'sign_in_application', column: 'client_secret_sealed', id: clientId } as const
}

export function sealApplicationSecret(sealer: Sealer, clientId: string, secret: string): Buffer {
  return sealer.seal(secret, contextOf(clientId))
}

export function openApplicationSecret(
  sealer: Pick<Sealer, 'openText'>,
  clientId: string,
  sealed: Buffer,
): string {
  return sealer.openText(sealed, contextOf(clientId))
}
