import { createPublicKey } from 'node:crypto'
import { z } from 'zod'

const KEYS_MAX = 10
const JWKS_LENGTH_MAX = 32_768
/** Members of a JWK that hold the private part or a shared secret. RFC 7518 section 6. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'] as const
const RSA_MODULUS_BYTES_MIN = 256
const EC_CURVES: ReadonlySet<unknown> = new Set(['P-256', 'P-384', 'P-521'])
const KEY_TYPES: ReadonlySet<unknown> = new Set(['RSA', 'EC', 'OKP'])

/** Public keys by their members. RFC 7517. */
export interface PublicJwks {
  readonly keys: readonly Readonly<Record<string, unknown>>[]
}

/** The public keys of a client that authenticates with assertions it signs. RFC 7517. */
export const publicJwksInput = z
  .looseObject({ keys: z.array(z.record(z.string(), z.unknown())).min(1).max(KEYS_MAX) })
  .refine((jwks) => JSON.stringify(jwks).length <= JWKS_LENGTH_MAX, 'Is too large')
  .superRefine(({ keys }, context) => {
    for (const [index, key] of keys.entries()) {
      const message = findKeyProblem(key)
      if (message !== undefined)
        context.addIssue({ code: 'custom', path: ['keys', index], message })
    }
  })
  .transform(({ keys }): PublicJwks => ({ keys }))
  .describe('The public keys with which the client signs its assertions (`private_key_jwt`).')

/** A sentence about why a JWK cannot verify assertions; undefined when it can. */
function findKeyProblem(key: Readonly<Record<string, unknown>>): string | undefined {
  if (PRIVATE_MEMBERS.some((member) => key[member] !== undefined)) {
    return 'Must be a public key, without its private part'
  }
  const kty = key['kty']
  if (!KEY_TYPES.has(kty)) return 'Must be an RSA, EC or OKP key'
  if (key['use'] !== undefined && key['use'] !== 'sig') return 'Must be a key for signatures'
  if (kty === 'EC' && !EC_CURVES.has(key['crv'])) return 'Must be on P-256, P-384 or P-521'
  if (kty === 'OKP' && key['crv'] !== 'Ed25519') return 'Must be on Ed25519'
  if (kty === 'RSA' && bytesOf(key['n']) < RSA_MODULUS_BYTES_MIN) {
    return 'Must have at least 2048 bits'
  }
  try {
    createPublicKey({ key: key, format: 'jwk' })
    return undefined
  } catch {
    return 'Is not a key that can be read'
  }
}

function bytesOf(value: unknown): number {
  return typeof value === 'string' ? Buffer.from(value, 'base64url').length : 0
}
