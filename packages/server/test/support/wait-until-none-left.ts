/*
 * Waits for work that takes as long as the machine is busy. They end when nothing is left, or when nothing
 * has moved for so long that nothing will; no total limits them.
 */
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_EVERY_MS = 50
/** Longer than any pause of a service that works: a restart after a kill, a retry, a check-in. */
const STANDSTILL_MS = 120_000

/**
 * Looks until `countLeft` answers 0 or less, and answers what is left: more than 0 when the count has not
 * changed for two minutes. The assertions after it then say what is missing.
 */
export async function waitUntilNoneLeft(
  countLeft: () => number | Promise<number>,
): Promise<number> {
  let last = Number.NaN
  let movedAtMs = performance.now()
  for (;;) {
    const left = await countLeft()
    if (left <= 0) return left
    if (left !== last) movedAtMs = performance.now()
    if (performance.now() - movedAtMs > STANDSTILL_MS) return left
    last = left
    await sleep(LOOK_EVERY_MS)
  }
}
