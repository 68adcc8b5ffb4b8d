/** What an access token may be good for: reading, and everything. */
export const SSF_SCOPES = ['ssf.read', 'ssf.manage'] as const

/** One of {@link SSF_SCOPES}. */
export type SsfScope = (typeof SSF_SCOPES)[number]

/**
 * The scopes of a text, separated by spaces; undefined when one is unknown or there is none. RFC 6749
 * section 3.3.
 */
export function parseScopes(text: string): SsfScope[] | undefined {
  const names = text.split(' ').filter((name) => name !== '')
  const known = SSF_SCOPES.filter((scope) => names.includes(scope))
  const isKnown = names.every((name) => (SSF_SCOPES as readonly string[]).includes(name))
  return isKnown && known.length > 0 ? known : undefined
}

/** Whether scopes allow what `needed` stands for: `ssf.manage` is good for reading too. */
export function allowsScope(granted: readonly string[], needed: string): boolean {
  return granted.includes(needed) || (needed === 'ssf.read' && granted.includes('ssf.manage'))
}
