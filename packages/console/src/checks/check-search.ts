/** What stands in the address of the list of checks: all of it narrows the list. */
export interface CheckSearch {
  /** A part of the name. */
  readonly name?: string
  readonly platform?: string
  readonly tag?: string
  readonly strategy?: string
}

export function readCheckSearch(search: Readonly<Record<string, unknown>>): CheckSearch {
  const names = ['name', 'platform', 'tag', 'strategy']
  return Object.fromEntries(
    Object.entries(search).filter(
      ([name, value]) => names.includes(name) && typeof value === 'string' && value !== '',
    ),
  )
}
