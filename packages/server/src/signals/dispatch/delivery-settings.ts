import { SECOND_MS } from '../../platform/clock.ts'

/** The pace of the delivery engine. */
export interface DeliverySettings {
  /** Requests in flight per destination. */
  readonly concurrency: number
  /** Requests in flight over all destinations. */
  readonly inFlightMax: number
  /** In flight that a destination may have although the others hold everything. */
  readonly reservedPerDestination: number
  /** Deliveries that one statement claims. */
  readonly claimSize: number
  /** Deliveries of a destination that are claimed and not finished, at most. */
  readonly claimedMax: number
  /** The same over all destinations, which share it; beyond it who has nothing claims a little. */
  readonly claimedByAllMax: number
  /** The least share of it, and the most that is claimed at once for who has nothing when all is taken. */
  readonly claimedMin: number
  /** A claim lasts this long; must exceed the time of a request by far. */
  readonly leaseMs: number
  /** One request, from the look-up of the name to the last byte of the answer. */
  readonly requestTimeoutMs: number
  /** How often the database is asked for work that no wake-up announced. */
  readonly sweepIntervalMs: number
  /** How often the other workers are looked after. */
  readonly presenceIntervalMs: number
}

/**
 * Measured on two cores: more in flight gains nothing, and costs fairness. With half as many in a claim or claimed in
 * all, the signing threads of a single stream wait for the next claim, or for outcomes to be recorded.
 */
export const DEFAULT_DELIVERY_SETTINGS: DeliverySettings = {
  concurrency: 32,
  inFlightMax: 512,
  reservedPerDestination: 4,
  claimSize: 256,
  claimedMax: 1_024,
  claimedByAllMax: 8_192,
  claimedMin: 32,
  leaseMs: 120 * SECOND_MS,
  requestTimeoutMs: 15 * SECOND_MS,
  sweepIntervalMs: 5 * SECOND_MS,
  presenceIntervalMs: 2 * SECOND_MS,
}
