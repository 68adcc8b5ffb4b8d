/*
 * Which connections without a request a device may have shown beside those of the browser. Pure: what was noted of
 * them, and when the device was asked, go in.
 */
import { SECOND_MS } from '../../platform/clock.ts'
import type { ProbeArrival } from './probe-arrival-store.ts'

/** Connections without a request that are written down of one proof. */
export const REQUESTLESS_MAX = 20

/**
 * What is known of the end of a connection without a request: nothing yet, that it has ended, or that nobody here sees
 * it, for it leads to a proxy.
 */
export type RequestlessStay = 'open' | 'ended' | 'proxied'

/** When a device was asked, by the database. */
interface Asking {
  /** Of connections that were noted as ended before any device was asked. */
  readonly endedBefore: ReadonlySet<string>
  /** When the device that is proven had answered. */
  readonly answeredAt: Date
  /** Whether all that there were are known. */
  readonly isComplete: boolean
}

/**
 * A device has a connection as soon as the machine of the service has taken it; the process that listens may learn of
 * it later, or a balancer passes it on later.
 */
export const TAKEN_LATE_MS = SECOND_MS / 4

/** The connections that were noted as ended. */
export function listEnded(arrivals: readonly ProbeArrival[]): ReadonlySet<string> {
  const ended = arrivals.filter(({ kind, reason }) => kind === 'idle' && reason === 'ended')
  return new Set(ended.map(({ id }) => id))
}

/**
 * The connections that the device may have shown: a device shows only established ones, so that those do not count
 * which had ended before it was asked, or began after it answered; nor those on which the browser then sent its
 * request. Of very many the later ones are not known, nor those that could not be noted: then all count.
 */
export function listShownRequestless(
  arrivals: readonly ProbeArrival[],
  { endedBefore, answeredAt, isComplete }: Asking,
): readonly ProbeArrival[] {
  const requestless = arrivals.filter(({ kind }) => kind === 'idle')
  if (!isComplete || requestless.length >= REQUESTLESS_MAX) return requestless
  const isBefore = (at: Date) => at.getTime() <= answeredAt.getTime() + TAKEN_LATE_MS
  const counted = arrivals.filter(({ kind }) => kind === 'counted')
  return requestless.filter(
    (noted) =>
      // The browser may have been at the proxy before, and may be for longer.
      noted.reason === 'proxied' ||
      (!endedBefore.has(noted.id) &&
        isBefore(noted.arrivedAt) &&
        !counted.some((request) => hasBrought(noted, request))),
  )
}

/**
 * Whether a connection is that of a request of the browser, which came after it was noted, as behind a slow TLS
 * handshake. One of the same address and port that ended, or began after the request, is another.
 */
function hasBrought(noted: ProbeArrival, request: ProbeArrival): boolean {
  return (
    noted.reason === null &&
    noted.arrivedAt <= request.arrivedAt &&
    noted.port === request.port &&
    noted.ipAddress === request.ipAddress &&
    noted.clientPort === request.clientPort &&
    noted.serviceAddress === request.serviceAddress
  )
}
