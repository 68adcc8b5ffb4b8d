/** A source of numbers in [0, 1). */
export type Random = () => number

/** The same numbers for the same seed (mulberry32), so that a simulated fleet can be repeated. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** One of `items`, evenly. Throws on an empty list. */
export function pick<Item>(items: readonly Item[], random: Random): Item {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('Nothing to pick from')
  return item
}

/** `length` random hexadecimal digits in upper case. */
export function randomHex(length: number, random: Random): string {
  let digits = ''
  while (digits.length < length) digits += Math.floor(random() * 16).toString(16)
  return digits.toUpperCase()
}

/** A random UUID in upper case, as osquery reports hardware UUIDs. */
export function randomUuid(random: Random): string {
  const hex = randomHex(32, random)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-')
}
