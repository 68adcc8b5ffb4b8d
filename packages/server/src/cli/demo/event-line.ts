import type { LatencySummary } from './event-tally.ts'
import type { VerifiedEvent } from './verified-event.ts'

/** A verified event as one line. Control characters are shown as `?`: names come from devices. */
export function toEventLine(event: VerifiedEvent, deviceName: string | undefined): string {
  const { deviceId, latencyMs, method, receivedAtMs } = event
  const device = shortName(deviceName ?? (deviceId === undefined ? '-' : `#${deviceId}`))
  const latency = latencyMs === undefined ? '' : `  ${latencyMs} ms`
  return [
    formatClock(receivedAtMs),
    method,
    device.padEnd(20),
    `${describeEvent(event)}${latency}  signature verified`,
  ]
    .join('  ')
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?')
}

/** Median and tail of a method. */
export function formatLatency({ p50Ms, p99Ms }: LatencySummary): string {
  if (p50Ms === undefined || p99Ms === undefined) return 'no latency yet'
  return `p50 ${p50Ms} ms, p99 ${p99Ms} ms`
}

function describeEvent({ previousStatus, currentStatus, kind }: VerifiedEvent): string {
  if (previousStatus === undefined || currentStatus === undefined) return kind
  return `${previousStatus} → ${currentStatus}`
}

/** Without the domain that all devices share. */
function shortName(name: string): string {
  return name.replace(/\.example\.com$/, '')
}

/** The time of day, in the time zone of the machine. */
function formatClock(epochMs: number): string {
  const time = new Date(epochMs)
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}
