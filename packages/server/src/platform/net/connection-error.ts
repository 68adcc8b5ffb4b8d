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
