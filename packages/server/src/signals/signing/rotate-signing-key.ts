import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { findPendingKey } from './signing-key.ts'
import {
  listSigningKeys,
  lockSigningKeys,
  retireSigningKeysExcept,
  type SigningKeyRecord,
} from './signing-key-store.ts'
import {
  addSigningKey,
  PUBLICATION_LEAD_MS,
  PUBLICATION_OVERLAP_MS,
  type SigningKeyDependencies,
} from './signing-keys.ts'
import { putStreamKeys } from './stream-key-store.ts'

/** How a rotation goes. */
export interface RotationPlan {
  /** The destinations of the streams that sign with the new key before the others. */
  readonly canaryDestinationIds?: readonly string[]
  /** How long only canaries use the new key; a day unless said otherwise, nothing without canaries. */
  readonly canaryMs?: number
}

export const CANARY_MS = DAY_MS

/**
 * Begins a rotation: adds a key that is published now and signs after the publication lead, for its
 * canaries first, and lets the others go out of publication after the overlap. What is bound to an
 * old key keeps it.
 *
 * @throws AppError `conflict` while another rotation is under way.
 */
export async function rotateSigningKey(
  change: Change,
  dependencies: SigningKeyDependencies,
  plan: RotationPlan = {},
): Promise<SigningKeyRecord> {
  await lockSigningKeys(change.tx)
  const pending = findPendingKey(await listSigningKeys(change.tx), change.at)
  if (pending !== undefined) {
    throw new AppError(
      'conflict',
      `A rotation to the key ${pending.kid} is under way; roll it back to begin another.`,
    )
  }
  const canaries = plan.canaryDestinationIds ?? []
  const leadMs = dependencies.publicationLeadMs ?? PUBLICATION_LEAD_MS
  const activeFrom = new Date(change.at.getTime() + leadMs)
  const canaryMs = canaries.length === 0 ? 0 : (plan.canaryMs ?? CANARY_MS)
  const generalFrom = new Date(activeFrom.getTime() + canaryMs)
  const key = await addSigningKey(change, dependencies, { activeFrom, generalFrom })
  await putStreamKeys(
    change.tx,
    canaries.map((destinationId) => ({
      destinationId,
      kid: key.kid,
      reason: 'canary',
      refusedKid: null,
      refusal: null,
      fromAt: activeFrom,
      untilAt: generalFrom,
    })),
  )
  const retiredAt = new Date(generalFrom.getTime() + PUBLICATION_OVERLAP_MS)
  await retireSigningKeysExcept(change.tx, key.kid, retiredAt)
  return key
}
