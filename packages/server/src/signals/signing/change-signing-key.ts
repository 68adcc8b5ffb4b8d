/*
 * What moves signing keys on: a rotation, its rollback, the revocation of a compromised key. Owns which times of
 * which keys change; what the times mean is signing-key.ts's, how a key is made signing-keys.ts's.
 */
import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { notify } from '../../platform/db/listener.ts'
import { findGeneralKey, findPendingKey, findPreviousKey } from './signing-key.ts'
import {
  getSigningKey,
  listSigningKeys,
  lockSigningKeys,
  retireSigningKeysExcept,
  updateSigningKey,
  type SigningKeyRecord,
} from './signing-key-store.ts'
import {
  addSigningKey,
  PUBLICATION_LEAD_MS,
  PUBLICATION_OVERLAP_MS,
  SIGNING_KEY_CHANNEL,
  toSigningKeyAudit,
  type SigningKeyDependencies,
} from './signing-keys.ts'
import { deleteStreamKeysOf, putStreamKeys, rebindQueued } from './stream-key-store.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'

/** How a rotation goes. */
export interface RotationPlan {
  /** The destinations of the streams that sign with the new key before the others. */
  readonly canaryDestinationIds?: readonly DestinationId[]
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
  const keys = await listSigningKeys(change.tx)
  const pending = findPendingKey(keys, change.at)
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
  await beginWaitingKeys(change, keys)
  const retiredAt = new Date(generalFrom.getTime() + PUBLICATION_OVERLAP_MS)
  await retireSigningKeysExcept(change.tx, key.kid, retiredAt)
  return key
}

/** By how much the clock of another process may be behind. */
const CLOCKS_APART_MAX_MS = DAY_MS

/**
 * The key that is to be replaced signs before its time where the clock was ahead when it was made: its time becomes one
 * that has come by every clock, or it would take over again from its successor. Others that wait keep their distance
 * to it.
 */
async function beginWaitingKeys(
  { tx, at }: Change,
  keys: readonly SigningKeyRecord[],
): Promise<void> {
  const aheadMs = (findGeneralKey(keys, at)?.generalFrom?.getTime() ?? 0) - at.getTime()
  if (aheadMs <= 0) return
  const shiftMs = aheadMs + CLOCKS_APART_MAX_MS
  for (const { kid, activeFrom, generalFrom } of keys) {
    if (generalFrom === null || generalFrom <= at) continue
    await updateSigningKey(tx, kid, {
      activeFrom: new Date(activeFrom.getTime() - shiftMs),
      generalFrom: new Date(generalFrom.getTime() - shiftMs),
    })
  }
}

/** What a rollback or a revocation came to. */
export interface ReplacedKey {
  /** The key that was given up. */
  readonly key: SigningKeyRecord
  /** Signs for every stream from now on. */
  readonly active: SigningKeyRecord
}

/**
 * Takes the last rotation back, also one that is still under way: the key before it signs again, at
 * once and for every stream, and what waits under the new key is signed again. The key that is given
 * up stays published for the overlap, because SETs that it signed are on their way.
 *
 * @throws AppError `conflict` when the key before is not published any more.
 */
export async function rollBackSigningKey(change: Change): Promise<ReplacedKey> {
  await lockSigningKeys(change.tx)
  const keys = await listSigningKeys(change.tx)
  const given = findPendingKey(keys, change.at) ?? findGeneralKey(keys, change.at)
  const before = given === undefined ? undefined : findKeyBefore(given, keys, change.at)
  if (given === undefined || before === undefined) {
    throw new AppError(
      'conflict',
      'There is no earlier signing key to go back to: none is published any more.',
    )
  }
  const rolledBack = await updateSigningKey(change.tx, given.kid, {
    rolledBackAt: change.at,
    retiredAt: new Date(change.at.getTime() + PUBLICATION_OVERLAP_MS),
  })
  const active = await updateSigningKey(change.tx, before.kid, { retiredAt: null })
  await deleteStreamKeysOf(change.tx, given.kid)
  await rebindQueued(change.tx, {
    fromKid: given.kid,
    toKid: before.kid,
    destinationId: null,
  })
  await notify(change.tx, SIGNING_KEY_CHANNEL)
  change.recordAudit({
    action: 'signing_key.rolled_back',
    target: { type: 'signing_key', id: given.kid },
    description: `rolled the signing key back from ${given.kid} to ${before.kid}`,
    before: toSigningKeyAudit(given),
    after: { ...toSigningKeyAudit(rolledBack), active_kid: before.kid },
  })
  return { key: rolledBack, active }
}

/** While the clock is behind the key that signs, the one before it has not started either. */
function findKeyBefore(
  given: SigningKeyRecord,
  keys: readonly SigningKeyRecord[],
  at: Date,
): SigningKeyRecord | undefined {
  const { kid, generalFrom } = given
  return findPreviousKey(keys, kid, generalFrom !== null && generalFrom > at ? generalFrom : at)
}

/**
 * Ends a compromised key at once: it is not published any more, and what waits under it is signed
 * again when it is sent. When it was the one in use, the key of the rotation that is under way takes
 * over, or else a new one, both without their time ahead: receivers that cache the key set refuse it
 * until they fetch the set again, which is why such refusals are tried again for a day.
 *
 * @throws AppError `not_found`; `conflict` for a key that is revoked already.
 */
export async function revokeSigningKey(
  change: Change,
  kid: string,
  dependencies: SigningKeyDependencies,
): Promise<ReplacedKey> {
  await lockSigningKeys(change.tx)
  const before = await getSigningKey(change.tx, kid)
  if (before.revokedAt !== null) {
    throw new AppError('conflict', 'This signing key is revoked already.')
  }
  const revoked = await updateSigningKey(change.tx, kid, {
    revokedAt: change.at,
    retiredAt: change.at,
  })
  await deleteStreamKeysOf(change.tx, kid)
  const active = await ensureActiveKey(change, before, dependencies)
  await notify(change.tx, SIGNING_KEY_CHANNEL)
  change.recordAudit({
    action: 'signing_key.revoked',
    target: { type: 'signing_key', id: kid },
    description: `revoked the signing key ${kid}`,
    before: toSigningKeyAudit(before),
    after: { ...toSigningKeyAudit(revoked), active_kid: active.kid },
  })
  return { key: revoked, active }
}

/** An earlier key does not come back: whoever took one key may have taken what lay beside it. */
async function ensureActiveKey(
  change: Change,
  revoked: SigningKeyRecord,
  dependencies: SigningKeyDependencies,
): Promise<SigningKeyRecord> {
  const keys = await listSigningKeys(change.tx)
  const general = findGeneralKey(keys, change.at)
  const wasGeneral = findGeneralKey([revoked, ...keys], change.at)
  const pending = findPendingKey(keys, change.at, wasGeneral)
  if (general !== undefined && wasGeneral?.kid !== revoked.kid) {
    if (general.retiredAt === null) return general
    // The key that was to replace it is the revoked one.
    return pending === undefined
      ? updateSigningKey(change.tx, general.kid, { retiredAt: null })
      : general
  }
  const at = { activeFrom: change.at, generalFrom: change.at }
  if (pending === undefined) return addSigningKey(change, dependencies, at)
  return updateSigningKey(change.tx, pending.kid, at)
}
