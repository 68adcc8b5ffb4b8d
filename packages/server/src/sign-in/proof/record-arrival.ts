/*
 * What becomes of whoever comes to a leased port: the browser counts, somebody else ends the sign-in. Owns how much is
 * written of one proof, whoever knocks.
 */
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { AppError } from '../../platform/app-error.ts'
import { findAttempt } from '../attempts/attempt-store.ts'
import { deviceNotProven } from '../attempts/know-device.ts'
import { countArrivals, insertArrival, type ProbeArrival } from './probe-arrival-store.ts'
import { deleteLeasesOfAttempt, prolongLeases, type ProbeLease } from './probe-lease-store.ts'
import type { ForeignReason } from './probe-request-input.ts'
import type { SeenConnection } from './judge-sockets.ts'
import { PORTS_PER_PROOF, PROVING_MS } from './start-proof.ts'

type Dependencies = Pick<Foundation, 'db' | 'runChange' | 'clock'>

/** Connections without a request that are written down of one proof. */
export const REQUESTLESS_MAX = 20

/** Whether a connection without a request was there for a while, or had ended when it was noted. */
export type RequestlessStay = 'idle' | 'ended'

/**
 * Whether connections without a request may be among those that a device shows which was asked at a time. Ones that had
 * ended before are not: browsers open some to spare, and close them at once. Of very many the later ones are not known.
 */
export function hasRequestless(arrivals: readonly ProbeArrival[], askedAt: Date): boolean {
  const requestless = arrivals.filter(({ kind }) => kind === 'idle')
  return (
    requestless.length >= REQUESTLESS_MAX ||
    requestless.some(({ reason, arrivedAt }) => reason !== 'ended' || arrivedAt >= askedAt)
  )
}

/** Counts the request of the browser; false when it has come to this port before. */
export async function recordCounted(
  { db, clock }: Dependencies,
  lease: ProbeLease,
  seen: SeenConnection,
): Promise<boolean> {
  const at = clock.now()
  const isFirst = await insertArrival(db, {
    ...toArrival(lease, seen),
    kind: 'counted',
    arrivedAt: at,
  })
  if (!isFirst) return false
  const count = await countArrivals(db, lease.proofId, 'counted', PORTS_PER_PROOF)
  if (count === PORTS_PER_PROOF) {
    await prolongLeases(db, lease.proofId, new Date(at.getTime() + PROVING_MS))
  }
  return true
}

/**
 * Ends the attempt as relayed: somebody who is not the page that signs in has come to a port of it. Nothing happens
 * to an attempt that is past its proof.
 */
export async function recordForeign(
  { runChange }: Dependencies,
  lease: ProbeLease,
  seen: SeenConnection,
  reason: ForeignReason,
): Promise<void> {
  try {
    await runChange({ actor: SYSTEM_ACTOR, ipAddress: seen.clientAddress }, async (change) => {
      const { tx } = change
      const foreign = {
        port: String(lease.port),
        address: seen.clientAddress,
        client_port: String(seen.clientPort),
        reason,
      }
      await deviceNotProven(change, lease.attemptId, {
        reason: 'relayed',
        evidence: { foreign_arrival: foreign },
      })
      const arrivedAt = change.now()
      await insertArrival(tx, { ...toArrival(lease, seen), kind: 'foreign', reason, arrivedAt })
      await deleteLeasesOfAttempt(tx, lease.attemptId)
    })
  } catch (error) {
    if (!(error instanceof AppError) || !['conflict', 'not_found'].includes(error.code)) throw error
  }
}

/**
 * Notes a connection that brings no request of the browser: it may be somebody else's, which a device behind a
 * translation of addresses would show too.
 */
export async function recordRequestless(
  { db, clock }: Dependencies,
  lease: ProbeLease,
  seen: SeenConnection,
  stay: RequestlessStay,
): Promise<void> {
  const arrivedAt = clock.now()
  if ((await countArrivals(db, lease.proofId, 'idle', REQUESTLESS_MAX)) >= REQUESTLESS_MAX) return
  if ((await findAttempt(db, lease.attemptId)) === undefined) return
  const reason = stay === 'ended' ? stay : null
  await insertArrival(db, { ...toArrival(lease, seen), kind: 'idle', reason, arrivedAt })
}

function toArrival({ proofId, attemptId, port }: ProbeLease, seen: SeenConnection) {
  return {
    proofId,
    attemptId,
    port,
    reason: null,
    ipAddress: seen.clientAddress,
    clientPort: seen.clientPort,
    serviceAddress: seen.serviceAddress,
  }
}
