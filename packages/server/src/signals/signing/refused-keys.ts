/*
 * What happens when a receiver refuses the key of a SET: the SET is signed with another key, and a
 * stream goes back to the key that it used before. Owns the decision's effects; the decision itself is
 * judge-key-refusal.ts's, and what a refusal looks like on the wire is that of push and poll.
 */
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Change } from '../../changes/change.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { notify } from '../../platform/db/listener.ts'
import { findStreamOfDestination } from '../streams/stream-store.ts'
import type { KeyRefusal } from './judge-key-refusal.ts'
import { STREAM_ROLLBACK_MS, type KeyRing } from './key-ring.ts'
import { listSigningKeys, lockSigningKeys, updateSigningKey } from './signing-key-store.ts'
import { SIGNING_KEY_CHANNEL } from './signing-keys.ts'
import { putStreamKeys, rebindQueued, type StreamKey } from './stream-key-store.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'

/** A SET that was refused because of its key. */
export interface RefusedSet {
  readonly destinationId: DestinationId
  /** The key that signed it. */
  readonly kid: string
  /** What the receiver said, cut to a storable length. */
  readonly refusal: string
}

export interface RefusedKeys {
  /** Decides at once, and lets the stream go back to its former key where that is the answer. */
  onRefused(refused: RefusedSet): KeyRefusal
  /** Resolves when the decisions so far are written. */
  idle(): Promise<void>
}

export interface RefusedKeysDependencies extends Pick<Foundation, 'runChange' | 'clock'> {
  readonly keyRing: KeyRing
  readonly logError: (error: unknown, message: string) => void
}

const REFUSAL_LENGTH_MAX = 500

/**
 * Creates the reaction to refused keys. A stream goes back in this process at once and in the database a
 * moment later; what a crash loses of that is decided again with the next refusal.
 */
export function createRefusedKeys(dependencies: RefusedKeysDependencies): RefusedKeys {
  const { runChange, clock, keyRing, logError } = dependencies
  const pending = new Set<Promise<void>>()

  function rollBack({ destinationId, kid, refusal }: RefusedSet, toKid: string): void {
    const at = clock.now()
    const row: RolledBackStream = {
      destinationId: destinationId,
      kid: toKid,
      reason: 'rolled_back',
      refusedKid: kid,
      refusal,
      fromAt: at,
      untilAt: new Date(at.getTime() + STREAM_ROLLBACK_MS),
    }
    keyRing.rollBackStream(row)
    const written: Promise<void> = runChange({ actor: SYSTEM_ACTOR }, (change) =>
      storeRollback(change, row),
    )
      .catch((error: unknown) => logError(error, 'the rollback of a stream was not written'))
      .finally(() => pending.delete(written))
    pending.add(written)
  }

  return {
    onRefused(refused) {
      const refusal = refused.refusal.slice(0, REFUSAL_LENGTH_MAX).toWellFormed()
      keyRing.proofs.noteRefusal(refused.destinationId, refused.kid, refusal)
      const judgement = keyRing.judgeRefusal(refused.destinationId, refused.kid)
      if (judgement.kind === 'resign' && judgement.isRollback) {
        rollBack({ ...refused, refusal }, judgement.kid)
      }
      return judgement
    },
    async idle() {
      while (pending.size > 0) await Promise.all(pending)
    },
  }
}

interface RolledBackStream extends Omit<StreamKey, 'reason'> {
  readonly reason: 'rolled_back'
  readonly refusedKid: string
}

async function storeRollback(change: Change, row: RolledBackStream): Promise<void> {
  await lockSigningKeys(change.tx)
  const stream = await findStreamOfDestination(change.tx, row.destinationId)
  if (stream === undefined) return
  await putStreamKeys(change.tx, [row])
  await rebindQueued(change.tx, {
    fromKid: row.refusedKid,
    toKid: row.kid,
    destinationId: row.destinationId,
  })
  const isHalted = await haltCanaries(change, row.refusedKid)
  change.recordAudit({
    action: 'signing_key.stream_rolled_back',
    target: { type: 'ssf_stream', id: stream.id },
    description: `let the stream ${stream.name} go back to the signing key ${row.kid}, because its receiver refused ${row.refusedKid}`,
    after: {
      kid: row.kid,
      refused_kid: row.refusedKid,
      refusal: row.refusal,
      is_halted: isHalted,
    },
  })
  await notify(change.tx, SIGNING_KEY_CHANNEL)
}

/** A canary that refuses the key keeps it from the others, until a rollback ends the rotation. */
async function haltCanaries(change: Change, refusedKid: string): Promise<boolean> {
  const keys = await listSigningKeys(change.tx)
  const refused = keys.find(({ kid }) => kid === refusedKid)
  if (refused?.generalFrom === undefined || refused.rolledBackAt !== null) return false
  if (refused.generalFrom !== null && refused.generalFrom <= change.at) return false
  await updateSigningKey(change.tx, refusedKid, { generalFrom: null })
  // The rotation was to let them go out of publication; now they are needed for longer.
  for (const { kid, retiredAt, revokedAt, rolledBackAt } of keys) {
    const isNeeded = kid !== refusedKid && revokedAt === null && rolledBackAt === null
    if (isNeeded && retiredAt !== null && retiredAt > change.at) {
      await updateSigningKey(change.tx, kid, { retiredAt: null })
    }
  }
  return true
}
