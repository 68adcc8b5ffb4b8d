/*
 * Brings the tables that grow for ever to their form while they are used: partitions ahead of their ids, and those of
 * an older version from one table to partitions. Each step is a transaction of its own; what was done is read from the
 * database, so that whoever comes next goes on. The steps themselves are the schema's (`advance_partitions`).
 */
import type { Kysely } from 'kysely'
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../../platform/clock.ts'
import { lockInTransaction } from '../../platform/db/advisory-lock.ts'
import {
  advancePartitions,
  isTableInUse,
  listPartitionedTables,
} from '../../platform/partitions/partition-store.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'
import type { Schema } from '../../schema/schema.ts'

/** A step that was taken. */
export interface PartitionStep {
  readonly table: string
  /** As `advance_partitions` answers. */
  readonly step: string
}

export interface KeepOptions {
  readonly onStep: (step: PartitionStep) => void
  /** Ends the work after the step under way. */
  readonly signal: AbortSignal
}

/** How often a step is tried while the table is in use. */
const TRIES_MAX = 5
const PAUSE_MS = SECOND_MS

/** Takes every step that is to be taken. Answers the tables that were in use, whose steps are still to be taken. */
export async function keepPartitions(
  db: Kysely<Schema>,
  { onStep, signal }: KeepOptions,
): Promise<string[]> {
  const inUse: string[] = []
  for (const table of await listPartitionedTables(db)) {
    while (!signal.aborted) {
      const step = await tryStep(db, table, signal)
      if (step === undefined) inUse.push(table)
      if (step === undefined || step === null) break
      onStep({ table, step })
    }
  }
  return inUse
}

/** Undefined where the table was in use all the time. */
async function tryStep(
  db: Kysely<Schema>,
  table: string,
  signal: AbortSignal,
): Promise<string | null | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction().execute(async (tx) => {
        await lockInTransaction(tx, LOCK_KEYS.partitions)
        return advancePartitions(tx, table)
      })
    } catch (error) {
      if (!isTableInUse(error)) throw error
      if (tries === TRIES_MAX || signal.aborted) return undefined
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined)
    }
  }
}
