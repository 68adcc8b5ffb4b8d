/*
 * Whether somebody uses this page: an input of the last minute says so, and that the page was opened. What the page
 * asks for at other times it asks for by itself, because of a live message, a timer or a window that came to the
 * front, and it must not keep a session from ending that nobody uses.
 */

/** What somebody did may lead to requests for so long. */
const ATTENDED_MS = 60_000

let attendedMs = performance.now()

const note = () => {
  attendedMs = performance.now()
}
for (const type of ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const) {
  addEventListener(type, note, { capture: true, passive: true })
}

/** Whether what is asked for now is asked for by the page alone. */
export function isUnattended(): boolean {
  return performance.now() - attendedMs > ATTENDED_MS
}
