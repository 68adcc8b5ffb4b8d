/* Counts and durations, as people read them. */
const count = new Intl.NumberFormat('en')

/** `9,000+` where counting stopped early. */
export function formatCount({ count: value, exact }: { count: number; exact: boolean }): string {
  return `${count.format(value)}${exact ? '' : '+'}`
}

/** `3 ms`, `1.2 s`, `4 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1) return `${ms.toFixed(1)} ms`
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`
  return `${Math.round(ms / 3_600_000)} h`
}
