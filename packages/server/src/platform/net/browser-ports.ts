/*
 * Ranges of ports that browsers open requests to. Owns which ports they refuse whatever listens there.
 */

/** Ports above 1023 that browsers refuse (Fetch standard, "port blocking"). */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
  6679, 6697, 10_080,
])

const PORT_MIN = 1_024
const PORT_MAX = 65_535

/** Ports one after another. */
export interface PortRange {
  readonly first: number
  readonly last: number
}

/** The outcome of reading a range: the range, or what it must be instead. */
export type ReadPortRange =
  { readonly ok: true; readonly range: PortRange } | { readonly ok: false; readonly reason: string }

/** Reads `first-last`: at least `countMin` and at most `countMax` ports, all of them open to browsers. */
export function readPortRange(
  text: string,
  { countMin, countMax }: { readonly countMin: number; readonly countMax: number },
): ReadPortRange {
  const [, first = 0, last = 0] = (/^(\d{1,5})-(\d{1,5})$/.exec(text.trim()) ?? []).map(Number)
  if (first < PORT_MIN || last > PORT_MAX || last < first) {
    return refuse(`must be two ports from ${PORT_MIN} to ${PORT_MAX} as in 42000-42063, or off`)
  }
  const range = { first, last }
  const count = last - first + 1
  if (count < countMin || count > countMax) {
    return refuse(`must hold ${countMin} to ${countMax} ports; these are ${count}`)
  }
  const blocked = listPorts(range).filter((port) => BLOCKED_PORTS.has(port))
  if (blocked.length > 0) {
    return refuse(`must hold no port that browsers refuse to open: ${blocked.join(', ')}`)
  }
  return { ok: true, range }
}

/** The ports of a range in their order. */
export function listPorts({ first, last }: PortRange): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

function refuse(reason: string): ReadPortRange {
  return { ok: false, reason }
}
