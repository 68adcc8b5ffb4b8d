/*
 * What becomes of whoever comes to a leased port: the browser counts, somebody else ends the sign-in. Owns how much is
 * written of one proof, whoever knocks.
 */
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { AppError } from '../../platform/app-error.ts'
import { deviceNotProven } from '../attempts/know-device.ts'
import { REQUESTLESS_MAX, type RequestlessStay } from './judge-requestless.ts'
import { countCounted, insertArrival, insertIdle } from './probe-arrival-store.ts'
import { deleteLeasesOfAttempt, prolongLeases, type ProbeLease } from './probe-lease-store.ts'
import type { ForeignReason } from './probe-request-input.ts'
import type { SeenConnection } from './judge-sockets.ts'
import type { OpenedConnection } from './probe-listeners.ts'
import { PORTS_PER_PROOF, PROVING_MS } from './start-proof.ts'

type Dependencies = Pick<Foundation, 'db' | 'runChange' | 'clock'>

/** Counts the request of the browser; false when it has come to this port before. */
export async function recordCounted(
  { db, runChange, clock }: Dependencies,
  lease: ProbeLease,
  seen: SeenConnection,
): Promise<boolean> {
  const at = clock.now()
  const id = await insertArrival(db, {
    ...toArrival(lease, seen),
    kind: 'counted',
    arrivedAt: at,
  })
  if (id === undefined) return false
  const count = await countCounted(db, lease.proofId, PORTS_PER_PROOF)
  if (count === PORTS_PER_PROOF) {
    const leasedUntil = new Date(at.getTime() + PROVING_MS)
    await runChange({ actor: SYSTEM_ACTOR }, async (change) =>
      prolongLeases(change, lease.proofId, leasedUntil),
    )
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
      await deleteLeasesOfAttempt(change, lease.attemptId)
    })
  } catch (error) {
    if (!(error instanceof AppError) || !['conflict', 'not_found'].includes(error.code)) throw error
  }
}

/**
 * Notes a connection that brings no request of the browser, when it was opened: it may be somebody else's, which a
 * device behind a translation of addresses would show too. Answers the id of the note; undefined where there are many.
 */
export async function recordRequestless(
  { db, clock }: Pick<Dependencies, 'db' | 'clock'>,
  lease: ProbeLease,
  { seen, openedMs }: OpenedConnection,
  stay: RequestlessStay,
): Promise<string | undefined> {
  const openForMs = performance.now() - openedMs
  const arrivedAt = new Date(clock.now().getTime() - openForMs)
  const reason = stay === 'open' ? null : stay
  const arrival = { ...toArrival(lease, seen), reason, arrivedAt }
  return insertIdle(db, arrival, { openForMs, countMax: REQUESTLESS_MAX })
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
