import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { SECOND_MS, type Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { updateKeysLastUsed } from './api-key-store.ts'
import { addPermissionUses, toDayBegin, type PermissionUses } from './permission-use-store.ts'

/** A request of a key that needed a permission. */
export interface PermissionUse {
  readonly keyId: string
  readonly permission: string
  readonly isAllowed: boolean
  /** Method and path as they are declared, without ids. */
  readonly operation: string
}

/** Remembers what keys were used for and writes it in batches, so that no request waits for it. */
export interface KeyUsageRecorder {
  recordUse(keyId: string): void
  recordPermissionUse(use: PermissionUse): void
  /** Writes what is remembered; called on a timer. What could not be written is remembered on. */
  flush(): Promise<void>
  /** Writes what is remembered before the process ends, and tries for a moment where the database is away. */
  stop(): Promise<void>
}

/** What is remembered while nothing can be written: of each kind, the newest of this many. */
const ROWS_MAX = 10_000
/** A server that is started anew, or another that takes over, is often there by then. */
const STOP_PATIENCE_MS = 3 * SECOND_MS
const STOP_RETRY_MS = SECOND_MS / 4

/**
 * Creates the recorder. What it holds between two flushes, at most a row per key, permission and day, is lost
 * when the process dies. A flush whose answer is lost on the way is counted twice. Nothing is tried again once the
 * database is `closed`.
 */
export function createKeyUsageRecorder(
  db: Kysely<Schema>,
  clock: Clock,
  closed: AbortSignal,
): KeyUsageRecorder {
  let lastUsedById = new Map<string, Date>()
  let uses = new Map<string, PermissionUses>()
  let flushing = Promise.resolve()

  async function writeLastUsed(): Promise<void> {
    const batch = lastUsedById
    if (batch.size === 0) return
    lastUsedById = new Map()
    try {
      await updateKeysLastUsed(db, batch)
    } catch (error) {
      lastUsedById = keepNewest(batch, lastUsedById, (_before, later) => later)
      throw error
    }
  }

  async function writeUses(): Promise<void> {
    const batch = uses
    if (batch.size === 0) return
    uses = new Map()
    try {
      await addPermissionUses(db, [...batch.values()])
    } catch (error) {
      uses = keepNewest(batch, uses, joinUses)
      throw error
    }
  }

  /** One after another: whoever stops also writes what a flush that runs could not. */
  function flush(): Promise<void> {
    const write = async () => {
      try {
        await writeLastUsed()
      } finally {
        await writeUses()
      }
    }
    flushing = flushing.then(write, write)
    return flushing
  }

  return {
    recordUse: (keyId) => setLast(lastUsedById, keyId, clock.now()),
    recordPermissionUse: (use) => {
      const at = clock.now()
      const place = `${use.keyId} ${toDayBegin(at).getTime()} ${use.permission}`
      setLast(uses, place, joinUses(uses.get(place), toUses(use, at)))
    },
    flush,
    stop: async () => {
      const endMs = performance.now() + STOP_PATIENCE_MS
      for (;;) {
        try {
          await flush()
          return
        } catch (error) {
          if (closed.aborted || performance.now() >= endMs) throw error
          await sleep(STOP_RETRY_MS)
        }
      }
    },
  }
}

/** A place is as new as what came to it last. */
function setLast<Value>(rows: Map<string, Value>, place: string, value: Value): void {
  rows.delete(place)
  rows.set(place, value)
}

/** What was remembered before and since, each place once, without the oldest where these are too many. */
function keepNewest<Value>(
  before: ReadonlyMap<string, Value>,
  since: ReadonlyMap<string, Value>,
  join: (before: Value | undefined, later: Value) => Value,
): Map<string, Value> {
  const all = new Map(before)
  for (const [place, later] of since) setLast(all, place, join(before.get(place), later))
  return new Map([...all].slice(-ROWS_MAX))
}

function toUses(
  { keyId, permission, isAllowed, operation }: PermissionUse,
  at: Date,
): PermissionUses {
  return {
    keyId,
    permission,
    dayBeganAt: toDayBegin(at),
    allowedCount: isAllowed ? 1 : 0,
    refusedCount: isAllowed ? 0 : 1,
    lastAllowedAt: isAllowed ? at : null,
    lastRefusedAt: isAllowed ? null : at,
    lastRefusedOperation: isAllowed ? null : operation,
  }
}

/** Both of the same key, permission and day. */
function joinUses(before: PermissionUses | undefined, later: PermissionUses): PermissionUses {
  if (before === undefined) return later
  return {
    ...later,
    allowedCount: before.allowedCount + later.allowedCount,
    refusedCount: before.refusedCount + later.refusedCount,
    lastAllowedAt: later.lastAllowedAt ?? before.lastAllowedAt,
    lastRefusedAt: later.lastRefusedAt ?? before.lastRefusedAt,
    lastRefusedOperation: later.lastRefusedOperation ?? before.lastRefusedOperation,
  }
}
