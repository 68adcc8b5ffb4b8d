/**
 * Tells whether a text equals one of several, in a time that does not depend on where they differ:
 * digests are compared, every one of them, to their last byte.
 */
export async function isAnyTextEqual(text: string, accepted: readonly string[]): Promise<boolean> {
  const digest = await sha256(text)
  let isEqual = false
  for (const candidate of accepted) {
    isEqual = isSameDigest(digest, await sha256(candidate)) || isEqual
  }
  return isEqual
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

function isSameDigest(left: Uint8Array, right: Uint8Array): boolean {
  let difference = left.length ^ right.length
  for (const [index, byte] of left.entries()) difference |= byte ^ (right[index] ?? 0)
  return difference === 0
}
