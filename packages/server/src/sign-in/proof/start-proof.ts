/*
 * The beginning of a live proof: three ports in a random order, leased to one attempt alone. Does not own what comes to
 * the ports.
 */
import { createHash, randomInt } from 'node:crypto'
import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { lockInTransaction } from '../../platform/db/advisory-lock.ts'
import { newSecret, newUuid } from '../../platform/ids.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'
import { WAITING_QUESTIONS_MAX } from '../../posture/device-questions/device-question.ts'
import { lockAttempt } from '../attempts/move-attempt.ts'
import {
  countLeasesOfAddress,
  countProofs,
  deleteLeasesOfAttempt,
  insertLeases,
  listFreePorts,
  listLeasesOfAttempt,
  type ProbeLease,
} from './probe-lease-store.ts'

/** How many ports a browser opens. */
export const PORTS_PER_PROOF = 3
/** How long a browser has to open all of its ports; many who never come would else hold the ports of others. */
const OPENING_MS = 15 * SECOND_MS
/** How long the ports of a browser that has come to all of them stay leased. */
export const PROVING_MS = 45 * SECOND_MS
/** For one person from one address, at a time: whoever types a name must leave room for whose it is. */
export const PROOFS_OF_PERSON_MAX = WAITING_QUESTIONS_MAX / 2
const RETRY_AFTER_SECONDS = 3
/** How long devices are asked. Held ones answer within a second; one that begins a new check-in within five. */
export const ASK_TIMEOUT_MS = 12 * SECOND_MS
const DECIDING_MAX_MS = ASK_TIMEOUT_MS + 3 * SECOND_MS

/** What the browser needs to open its ports. */
export interface StartedProof {
  /** In the order in which they are opened. */
  readonly ports: readonly number[]
  /** The last part of the path. */
  readonly token: string
  /** The value of the cookie that the requests carry. */
  readonly cookie: string
  readonly leasedUntil: Date
}

/**
 * Leases ports to an attempt whose device is not known yet. A proof of the same attempt whose ports are being opened
 * ends.
 *
 * @throws AppError `not_found`, `conflict` for an attempt at another step; `rate_limited` when all ports are leased,
 * one address has half of them, or devices are being asked for the attempt, or often for its person
 */
export async function startProof(
  change: Change,
  attemptId: string,
  ports: readonly number[],
): Promise<StartedProof> {
  const { tx } = change
  const { ipAddress, personId } = await lockAttempt(change, attemptId, ['device'])
  await lockInTransaction(tx, LOCK_KEYS.probePorts)
  const at = change.now()
  const [underWay] = await listLeasesOfAttempt(tx, attemptId, at)
  if (underWay !== undefined && isBeingDecided(underWay, at)) throw beingDecided()
  await deleteLeasesOfAttempt(change, attemptId)
  const by = { personId, ipAddress }
  if ((await countProofs(tx, by, at)) >= PROOFS_OF_PERSON_MAX) throw beingDecided()
  const ofAddress = ipAddress === null ? 0 : await countLeasesOfAddress(tx, ipAddress, at)
  if (ofAddress + PORTS_PER_PROOF > Math.max(ports.length / 2, PORTS_PER_PROOF)) throw allLeased()
  const chosen = chooseAtRandom(await listFreePorts(tx, ports, at), PORTS_PER_PROOF)
  if (chosen.length < PORTS_PER_PROOF) throw allLeased()
  const [proofId, token, cookie] = [newUuid(), newSecret(), newSecret()]
  const leasedUntil = new Date(at.getTime() + OPENING_MS)
  await insertLeases(
    change,
    chosen.map((port, position) => ({
      port,
      proofId,
      attemptId,
      position,
      tokenHash: hashProofSecret(token),
      cookieHash: hashProofSecret(cookie),
      ipAddress,
      leasedAt: at,
      leasedUntil,
      claimedAt: null,
    })),
  )
  return { ports: chosen, token, cookie, leasedUntil }
}

/** What is stored of a secret of a proof. */
export function hashProofSecret(secret: string): Buffer {
  return createHash('sha256').update(`proof ${secret}`).digest()
}

/**
 * Whether the devices are being asked, as long as that takes; a process that ended meanwhile stands in nobody's way.
 */
export function isBeingDecided({ claimedAt }: ProbeLease, at: Date): boolean {
  return claimedAt !== null && at.getTime() - claimedAt.getTime() < DECIDING_MAX_MS
}

/** `count` of the members, fewer when there are fewer, in an order that nobody can guess. */
function chooseAtRandom(members: readonly number[], count: number): number[] {
  const rest = [...members]
  return Array.from(
    { length: Math.min(count, rest.length) },
    () => rest.splice(randomInt(rest.length), 1)[0] ?? 0,
  )
}

function allLeased(): AppError {
  const message = 'Many people sign in at this moment. Try again in a few seconds.'
  return new AppError('rate_limited', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}

function beingDecided(): AppError {
  const message = 'Your devices are being asked already. Try again in a few seconds.'
  return new AppError('rate_limited', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}
