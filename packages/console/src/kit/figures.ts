/* Figures as people read them. */
const count = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

const BYTE_STEPS = ['B', 'kB', 'MB', 'GB', 'TB']
const DURATION_STEPS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** `12,345` */
export function formatCount(value: number): string {
  return count.format(value)
}

/** `3.4 MB`: steps of 1,000. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let step = 0
  while (value >= 1000 && step < BYTE_STEPS.length - 1) {
    value /= 1000
    step += 1
  }
  return `${short.format(value)} ${BYTE_STEPS[step]}`
}

/** `90 days`, `6 hours`: in the largest unit that fits. */
export function formatDuration(seconds: number): string {
  const [unit, length] =
    DURATION_STEPS.find(([, size]) => seconds >= size) ?? (['second', 1] as const)
  const units = seconds / length
  return `${short.format(units)} ${unit}${units === 1 ? '' : 's'}`
}
