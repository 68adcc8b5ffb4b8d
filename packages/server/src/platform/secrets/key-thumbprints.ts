import { calculateJwkThumbprint, type JWK } from 'jose'

/** What public keys are called in a record of a change: their RFC 7638 thumbprints. Empty without keys. */
export async function keyThumbprints(
  jwks: { readonly keys: readonly JWK[] } | null,
): Promise<string[]> {
  return Promise.all((jwks?.keys ?? []).map(async (key) => calculateJwkThumbprint(key)))
}
