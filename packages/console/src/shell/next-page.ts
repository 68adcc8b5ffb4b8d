/* The page that a step on the way there goes on to. */
export interface NextPage {
  /** Undefined rather than left out: the router keeps what is in the address in the place of what is left out. */
  readonly next?: string | undefined
}

/** Only a page of the console: whoever made a link must not choose where an admin goes on to. */
export function toNextPage(next: unknown): string | undefined {
  return typeof next === 'string' && next.startsWith('/console/') ? next : undefined
}
