import type { Kysely } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
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
  /** Writes what is remembered; called on a timer and before the process ends. */
  flush(): Promise<void>
}

/**
 * Creates the recorder. What it holds between two flushes, at most a row per key, permission and day, is lost
 * when the process dies.
 */
export function createKeyUsageRecorder(db: Kysely<Schema>, clock: Clock): KeyUsageRecorder {
  let lastUsedById = new Map<string, Date>()
  let uses = new Map<string, PermissionUses>()
  return {
    recordUse: (keyId) => lastUsedById.set(keyId, clock.now()),
    recordPermissionUse: (use) => {
      const at = clock.now()
      const place = `${use.keyId} ${toDayBegin(at).getTime()} ${use.permission}`
      uses.set(place, addUse(uses.get(place), use, at))
    },
    flush: async () => {
      const batch = { lastUsedById, uses: [...uses.values()] }
      lastUsedById = new Map()
      uses = new Map()
      if (batch.lastUsedById.size > 0) await updateKeysLastUsed(db, batch.lastUsedById)
      if (batch.uses.length > 0) await addPermissionUses(db, batch.uses)
    },
  }
}

function addUse(
  before: PermissionUses | undefined,
  { keyId, permission, isAllowed, operation }: PermissionUse,
  at: Date,
): PermissionUses {
  const { allowedCount = 0, refusedCount = 0, lastAllowedAt = null } = before ?? {}
  const { lastRefusedAt = null, lastRefusedOperation = null } = before ?? {}
  return {
    keyId,
    permission,
    dayBeganAt: toDayBegin(at),
    allowedCount: allowedCount + (isAllowed ? 1 : 0),
    refusedCount: refusedCount + (isAllowed ? 0 : 1),
    lastAllowedAt: isAllowed ? at : lastAllowedAt,
    lastRefusedAt: isAllowed ? lastRefusedAt : at,
    lastRefusedOperation: isAllowed ? lastRefusedOperation : operation,
  }
}
