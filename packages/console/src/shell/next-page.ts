/* The page that a step on the way there goes on to. */
export interface NextPage {
  /** Undefined rather than left out: the router keeps what is in the address in the place of what is left out. */
  readonly next?: string | undefined
}

/**
 * Only a page of the console, as the browser reads the address: whoever made a link must not choose where an admin
 * goes on to.
 */
export function toNextPage(next: unknown): string | undefined {
  const { origin: here } = globalThis.location
  const page = typeof next === 'string' ? toUrl(next, here) : undefined
  if (page?.origin !== here || !page.pathname.startsWith('/console/')) return undefined
  return `${page.pathname}${page.search}${page.hash}`
}

function toUrl(text: string, base: string): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
