import type { DeliveryDetails } from '../api/generated/types.gen.ts'

/** Why an attempt failed, and what helps. */
export interface Explanation {
  readonly cause: string
  readonly remedy: string
}

/** A delivery as its page shows it. */
export type ShownDelivery = Omit<DeliveryDetails, 'attempt_log'> & {
  readonly token?: string | null
  readonly attempt_log: readonly ShownAttempt[]
}

export type ShownAttempt = DeliveryDetails['attempt_log'][number] & {
  readonly explanation?: Explanation | null
  readonly waited_ms?: number | null
}

/** Why the last attempt failed; undefined when it did not, or nobody knows. */
export function explain({ attempt_log: attempts }: ShownDelivery): Explanation | undefined {
  return attempts.at(-1)?.explanation ?? undefined
}
