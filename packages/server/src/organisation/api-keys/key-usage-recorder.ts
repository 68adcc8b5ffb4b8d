import type { Kysely } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { updateKeysLastUsed } from './api-key-store.ts'

/** Remembers when keys were used and writes it in batches, so that no request waits for it. */
export interface KeyUsageRecorder {
  recordUse(keyId: string): void
  /** Writes what is remembered; called on a timer and before the process ends. */
  flush(): Promise<void>
}

/** Creates the recorder. What it holds between two flushes is lost when the process dies. */
export function createKeyUsageRecorder(db: Kysely<Schema>, clock: Clock): KeyUsageRecorder {
  let lastUsedById = new Map<string, Date>()
  return {
    recordUse: (keyId) => lastUsedById.set(keyId, clock.now()),
    flush: async () => {
      if (lastUsedById.size === 0) return
      const batch = lastUsedById
      lastUsedById = new Map()
      await updateKeysLastUsed(db, batch)
    },
  }
}
