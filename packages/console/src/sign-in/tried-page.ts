/* The page that the sign-in of this tab has gone on to for somebody who was signed in already. */
const TRIED = 'heliograph tried'

/** No line is so slow that a page which is refused leads back after it; what comes later is another visit. */
const LED_BACK_MS = 3_600_000

/** Undefined where there is none, where that is a while ago, or where somebody has signed in since. */
export function readTried(): string | undefined {
  const [at = '', path] = globalThis.sessionStorage.getItem(TRIED)?.split(' ', 2) ?? []
  return Math.abs(Date.now() - Number(at)) < LED_BACK_MS ? path : undefined
}

/** Keeps which page was tried last; undefined once somebody signs in, after which each may be tried again. */
export function noteTried(path: string | undefined): void {
  if (path === undefined) globalThis.sessionStorage.removeItem(TRIED)
  else globalThis.sessionStorage.setItem(TRIED, `${Date.now()} ${path}`)
}
