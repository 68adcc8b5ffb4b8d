import type { KeyRing } from './key-ring.ts'

/** What is needed of a queued SET to sign it. */
export interface SignableDelivery {
  /** The claims as text; these bytes are signed. */
  readonly body: string
  readonly signingKid: string | null
  readonly token: string | null
  /** Where it goes: the key that replaces one out of publication is that of its stream. */
  readonly destinationId?: string
}

/**
 * The token of each SET, in order: the stored one, or one made with the key that the SET is bound to.
 * Where that key has gone out of publication in the meantime nobody could verify it, so that the
 * present key signs instead.
 */
export async function signDeliveries(
  keyRing: Pick<KeyRing, 'activeKid' | 'isPublished' | 'sign'>,
  deliveries: readonly SignableDelivery[],
): Promise<string[]> {
  const tokens: string[] = []
  const byKid = new Map<string, number[]>()
  for (const [index, { token, signingKid, destinationId }] of deliveries.entries()) {
    const isVerifiable = signingKid !== null && keyRing.isPublished(signingKid)
    if (token !== null && isVerifiable) {
      tokens[index] = token
      continue
    }
    const kid = isVerifiable ? signingKid : keyRing.activeKid(destinationId)
    const indexes = byKid.get(kid) ?? []
    indexes.push(index)
    byKid.set(kid, indexes)
  }
  await Promise.all(
    [...byKid].map(async ([kid, indexes]) => {
      const signed = await keyRing.sign(
        kid,
        indexes.map((index) => deliveries[index]?.body ?? ''),
      )
      for (const [position, index] of indexes.entries()) tokens[index] = signed[position] ?? ''
    }),
  )
  return tokens
}
