/** Why a connection could not be made, thrown by the connector and read by the exchange that waited for it. */
import type { OutboundFailure } from './outbound-result.ts'

export interface ConnectionTimings {
  dnsMs: number | null
  connectMs: number | null
  tlsMs: number | null
}

/** Carries the failure through undici's connector callback; nobody else throws or catches it. */
export class ConnectionError extends Error {
  readonly failure: OutboundFailure

  constructor(failure: OutboundFailure, cause?: unknown) {
    super(failure.message, { cause })
    this.name = 'ConnectionError'
    this.failure = failure
  }
}

/** The `code` of a Node or undici error, or an empty string. */
export function errorCodeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}
