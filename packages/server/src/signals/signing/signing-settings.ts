import type { Foundation } from '../../changes/foundation.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import type { RsaModulusBits } from './generate-signing-key.ts'
import type { SigningKeyDependencies } from './signing-keys.ts'

export interface SigningSettings {
  readonly signingKeyBits: RsaModulusBits
  readonly signingKeyLeadSeconds: number
  readonly signingKeyRotationDays: number
}

/** How keys are made and for how long they are published before they sign. */
export function toSigningKeySettings(
  { sealer }: Pick<Foundation, 'sealer'>,
  { signingKeyBits, signingKeyLeadSeconds }: Omit<SigningSettings, 'signingKeyRotationDays'>,
): SigningKeyDependencies {
  const publicationLeadMs = signingKeyLeadSeconds * SECOND_MS
  return { sealer, modulusBits: signingKeyBits, publicationLeadMs }
}
