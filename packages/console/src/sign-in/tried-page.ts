/* The page that the sign-in of this tab has gone on to for somebody who was signed in already. */
const TRIED = 'heliograph tried'

/** Undefined where there is none, or where somebody has signed in since. */
export function readTried(): string | undefined {
  return globalThis.sessionStorage.getItem(TRIED) ?? undefined
}

/** Keeps which page was tried last; undefined once somebody signs in, after which each may be tried again. */
export function noteTried(path: string | undefined): void {
  if (path === undefined) globalThis.sessionStorage.removeItem(TRIED)
  else globalThis.sessionStorage.setItem(TRIED, path)
}
