/*
 * What happens to signing keys by the clock: the rotation that the schedule asks for, and the
 * verification events that canaries of a new key are sent. All it knows is in the tables, so that it is
 * exact after restarts, and any number of processes may run it.
 */
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Change } from '../../changes/change.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { queueDeliveries } from '../dispatch/delivery-store.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { toVerificationDelivery } from '../sets/stream-event-delivery.ts'
import { rotateSigningKey } from './change-signing-key.ts'
import { findPendingKey } from './signing-key.ts'
import {
  listSigningKeys,
  lockSigningKeys,
  updateSigningKey,
  type SigningKeyRecord,
} from './signing-key-store.ts'
import { listCanaries } from './stream-key-store.ts'
import type { SigningKeyDependencies } from './signing-keys.ts'

export interface SigningKeyJobDependencies
  extends SigningKeyDependencies, Pick<Foundation, 'db' | 'clock' | 'runChange'> {
  /** Days from one rotation to the next; 0 rotates by hand only. */
  readonly rotationDays: number
}

/** Does what is due and answers when something is next; undefined when nothing is known to be. */
export async function runSigningKeyJob(
  dependencies: SigningKeyJobDependencies,
): Promise<Date | undefined> {
  const { db, clock, runChange, rotationDays } = dependencies
  const origin = { actor: SYSTEM_ACTOR }
  const isDue = (time: Date | undefined) => time !== undefined && time <= clock.now()
  if (isDue(findRotationTime(await listSigningKeys(db), rotationDays))) {
    await runChange(origin, (change) => rotateIfDue(change, dependencies))
  }
  if (isDue(findCanaryTime(await listSigningKeys(db), clock.now()))) {
    await runChange(origin, (change) => verifyCanaries(change))
  }
  const keys = await listSigningKeys(db)
  const times = [findRotationTime(keys, rotationDays), findCanaryTime(keys, clock.now())]
  return earliest(times.filter((time) => time !== undefined))
}

/** From the last key that was made, also one that was rolled back: that is not made again at once. */
function findRotationTime(keys: readonly SigningKeyRecord[], days: number): Date | undefined {
  if (days === 0 || keys.length === 0) return undefined
  const lastMs = Math.max(...keys.map(({ createdAt }) => createdAt.getTime()))
  return new Date(lastMs + days * DAY_MS)
}

function findCanaryTime(keys: readonly SigningKeyRecord[], now: Date): Date | undefined {
  const pending = findPendingKey(keys, now)
  if (pending === undefined || pending.canariesVerifiedAt !== null) return undefined
  return pending.generalFrom !== null && pending.generalFrom <= pending.activeFrom
    ? undefined
    : pending.activeFrom
}

async function rotateIfDue(change: Change, dependencies: SigningKeyJobDependencies): Promise<void> {
  await lockSigningKeys(change.tx)
  const keys = await listSigningKeys(change.tx)
  const time = findRotationTime(keys, dependencies.rotationDays)
  // Another process may have been quicker; a rotation that is under way goes first.
  if (time === undefined || time > change.at) return
  if (findPendingKey(keys, change.at) !== undefined) return
  await rotateSigningKey(change, dependencies)
}

/** A canary without events would prove nothing: it is sent a verification event. */
async function verifyCanaries(change: Change): Promise<void> {
  await lockSigningKeys(change.tx)
  const pending = findPendingKey(await listSigningKeys(change.tx), change.at)
  if (pending === undefined || pending.canariesVerifiedAt !== null) return
  const streams = await listCanaries(change.tx, pending.kid)
  const deliveries = streams.map((stream) => toVerificationDelivery(stream, change))
  await queueDeliveries(change, deliveries)
  await updateSigningKey(change.tx, pending.kid, { canariesVerifiedAt: change.at })
}

function earliest(times: readonly Date[]): Date | undefined {
  return times.reduce<Date | undefined>(
    (first, time) => (first === undefined || time < first ? time : first),
    undefined,
  )
}
