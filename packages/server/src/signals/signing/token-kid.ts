const HEADERS_KEPT_MAX = 100
const kidByHeader = new Map<string, string | null>()

/**
 * The key that signed a token of ours, by its header; null when it names none. Remembers headers, which
 * are the same for every token of a key.
 */
export function kidOfToken(token: string): string | null {
  const header = token.slice(0, Math.max(0, token.indexOf('.')))
  const known = kidByHeader.get(header)
  if (known !== undefined) return known
  const kid = readKid(header)
  if (kidByHeader.size >= HEADERS_KEPT_MAX) kidByHeader.clear()
  kidByHeader.set(header, kid)
  return kid
}

function readKid(header: string): string | null {
  try {
    const members: unknown = JSON.parse(Buffer.from(header, 'base64url').toString('utf8'))
    if (typeof members !== 'object' || members === null || !('kid' in members)) return null
    return typeof members.kid === 'string' ? members.kid : null
  } catch {
    return null
  }
}
