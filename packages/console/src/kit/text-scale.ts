/* For what is measured in px by a script: everything else is set in rem. */
const USUAL_PX = 16

/** How many times as large as usual the browser sets texts. */
export function readTextScale(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL_PX
}
