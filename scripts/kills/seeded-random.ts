/* Numbers that look random and are the same for the same seed, so that a run can be done again. */

export interface SeededRandom {
  /** From `least` to below `most`. */
  between(least: number, most: number): number
  /** True in this share of the calls, 0 to 1. */
  happens(share: number): boolean
}

/** The generator mulberry32; the seed is a whole number of 32 bits. */
export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    between: (least, most) => least + next() * (most - least),
    happens: (share) => next() < share,
  }
}
