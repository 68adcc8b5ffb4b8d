import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { calculateJwkThumbprint } from 'jose'

/** Sizes of RSA keys that may sign SETs. CAEP Interoperability Profile section 2.6 wants 2048 at least. */
export const RSA_MODULUS_BITS = [2048, 3072] as const

export type RsaModulusBits = (typeof RSA_MODULUS_BITS)[number]

/** A new key pair, not stored anywhere. */
export interface GeneratedSigningKey {
  /** RFC 7638 thumbprint of the public key. */
  readonly kid: string
  /** The public members only: `kty`, `n`, `e`. */
  readonly publicJwk: Readonly<Record<string, string>>
  /** PKCS #8 in PEM. */
  readonly privateKeyPem: string
}

const generate = promisify(generateKeyPair)

/** Makes an RSA key pair off the event loop; takes a tenth of a second or more. */
export async function generateSigningKey(
  modulusBits: RsaModulusBits,
): Promise<GeneratedSigningKey> {
  const { publicKey, privateKey } = await generate('rsa', { modulusLength: modulusBits })
  const { kty, n, e } = publicKey.export({ format: 'jwk' })
  if (kty === undefined || n === undefined || e === undefined) {
    throw new Error('an RSA key exports kty, n and e')
  }
  return {
    kid: await calculateJwkThumbprint({ kty, n, e }),
    publicJwk: { kty, n, e },
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
