/*
 * What happens when a receiver refuses the key of a SET: the SET is signed with another key, and a
 * stream goes back to the key that it used before. Owns the decision's effects; the decision itself is
 * judge-key-refusal.ts's, and what a refusal looks like on the wire is that of push and poll.
 */
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Change, RunChange } from '../../changes/change.ts'
import type { Clock } from '../../platform/clock.ts'
import { notify } from '../../platform/db/listener.ts'
import type { StreamSigningKeyTable } from '../../schema/tables/signing-key-tables.ts'
import type { KeyRefusal } from './judge-key-refusal.ts'
import { STREAM_ROLLBACK_MS, type KeyRing } from './key-ring.ts'
import { listSigningKeys, lockSigningKeys, updateSigningKey } from './signing-key-store.ts'
import { SIGNING_KEY_CHANNEL } from './signing-keys.ts'
import { putStreamKeys, rebindQueued } from './stream-key-store.ts'

/** A SET that was refused because of its key. */
export interface RefusedSet {
  readonly destinationId: string
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

export interface RefusedKeysDependencies {
  readonly runChange: RunChange
  readonly clock: Clock
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
      destination_id: destinationId,
      kid: toKid,
      reason: 'rolled_back',
      refused_kid: kid,
      refusal,
      from_at: at,
      until_at: new Date(at.getTime() + STREAM_ROLLBACK_MS),
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

interface RolledBackStream extends Omit<StreamSigningKeyTable, 'reason'> {
  readonly reason: 'rolled_back'
  readonly refused_kid: string
}

async function storeRollback(change: Change, row: RolledBackStream): Promise<void> {
  await lockSigningKeys(change.tx)
  const stream = await change.tx
    .selectFrom('ssf_stream')
    .select(['id', 'name'])
    .where('destination_id', '=', row.destination_id)
    .executeTakeFirst()
  if (stream === undefined) return
  await putStreamKeys(change.tx, [row])
  await rebindQueued(change.tx, {
    fromKid: row.refused_kid,
    toKid: row.kid,
    destinationId: row.destination_id,
    now: change.at,
  })
  const isHalted = await haltCanaries(change, row.refused_kid)
  change.recordAudit({
    action: 'signing_key.stream_rolled_back',
    target: { type: 'ssf_stream', id: stream.id },
    description: `let the stream ${stream.name} go back to the signing key ${row.kid}, because its receiver refused ${row.refused_kid}`,
    after: {
      kid: row.kid,
      refused_kid: row.refused_kid,
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
  if (refused?.general_from === undefined || refused.rolled_back_at !== null) return false
  if (refused.general_from !== null && refused.general_from <= change.at) return false
  await updateSigningKey(change.tx, refusedKid, { general_from: null })
  // The rotation was to let them go out of publication; now they are needed for longer.
  for (const { kid, retired_at, revoked_at, rolled_back_at } of keys) {
    const isNeeded = kid !== refusedKid && revoked_at === null && rolled_back_at === null
    if (isNeeded && retired_at !== null && retired_at > change.at) {
      await updateSigningKey(change.tx, kid, { retired_at: null })
    }
  }
  return true
}
