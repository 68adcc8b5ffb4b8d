/** The three kinds of requests, by the word of the address. */
export const KINDS = ['exemption', 'registration', 'reenrollment'] as const

export type Kind = (typeof KINDS)[number]

/** What stands in the address: the kind, the search, and the request that is open. */
export interface RequestSearch {
  /** Exemptions when left out. */
  readonly kind?: Kind
  /** Those that wait when left out; empty for all. */
  readonly query?: string
  readonly open?: string
}

export function readRequestSearch(search: Readonly<Record<string, unknown>>): RequestSearch {
  const { kind, query, open } = search
  return {
    ...(KINDS.includes(kind as Kind) ? { kind: kind as Kind } : {}),
    ...(typeof query === 'string' ? { query } : {}),
    ...(typeof open === 'string' || typeof open === 'number' ? { open: String(open) } : {}),
  }
}
