/**
 * Checks times, sizes and counts that options set. Nothing is ever beyond a number that is none, of a variable that is
 * not set perhaps.
 *
 * @param amounts By their names; undefined ones have a default.
 * @throws TypeError when one is no number of 0 or more.
 */
export function requireAmounts(amounts: Readonly<Record<string, number | undefined>>): void {
  for (const [option, amount] of Object.entries(amounts)) {
    if (amount === undefined || amount >= 0) continue
    throw new TypeError(`${option} must be 0 or more, or Infinity, and not ${amount}`)
  }
}
