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

/**
 * Checks a count of what is asked for.
 *
 * @throws TypeError when it is no whole number of 1 or more.
 */
export function requireCount(option: string, count: number | undefined): void {
  if (count === undefined || count === Number.POSITIVE_INFINITY) return
  if (Number.isInteger(count) && count >= 1) return
  throw new TypeError(
    `${option} must be a whole number of 1 or more, or Infinity, and not ${count}`,
  )
}
