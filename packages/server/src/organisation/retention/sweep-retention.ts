/*
 * Goes through the tables whose rows have had their time, in batches that are short transactions of their
 * own, and with rests, so that nobody waits for it. A run ends after a bounded time; the next one goes on where it
 * ended, in whichever process. What a batch does is the policies'.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { HOUR_MS, MINUTE_MS, SECOND_MS, type Clock } from '../../platform/clock.ts'
import { boundTransaction } from '../../platform/db/bound-transaction.ts'
import type { RetentionBatch, RetentionPolicy } from '../../platform/retention/retention-policy.ts'
import type { Schema } from '../../schema/schema.ts'
import {
  advancePass,
  advanceSweepTime,
  beginPass,
  failPass,
  listDuePasses,
  putRetentionPolicies,
  type DuePass,
} from './retention-state-store.ts'

export interface SweepDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  /** The clock of the machine, which that of the database is held against. */
  readonly machineClock: Clock
}

export interface SweepOptions {
  /** No batch begins after this time. */
  readonly runMsMax: number
  /** Ends the run after the batch under way. */
  readonly signal: AbortSignal
}

/** How long a run may last: the next one follows at once while something is left. */
export const RUN_MS_MAX = 50 * SECOND_MS
/** A row that a batch touches and somebody else holds is passed over; what goes with it is waited for. */
const LOCK_MS_MAX = SECOND_MS
const STATEMENT_MS_MAX = 20 * SECOND_MS
const REST_MS_MAX = SECOND_MS
/**
 * For so much longer rows may be kept to end with their partition instead of one by one: a week of a year. Where a
 * partition fills within that time, none of its rows is ever deleted by itself.
 */
const DEFERRED_PART = 1 / 50
/** A database that is farther ahead than this would have what is young deleted for good. */
const AHEAD_MS_MAX = HOUR_MS
/**
 * The time of sweeps goes on by no more than this from one to the next, ten seconds later: an hour in a minute. Where
 * all clocks are a year ahead for a while, little is deleted too early; after a month without the service they are
 * back in half a day.
 */
const STEP_MS_MAX = 10 * MINUTE_MS

/**
 * Makes the passes that are due, a batch of each in turn, so that a large backlog holds up no other policy.
 *
 * @throws why the first policy failed, after the others have had their turn; that the clocks of the database and
 * of the machine do not agree
 */
export async function sweepRetention(
  policies: readonly RetentionPolicy[],
  dependencies: SweepDependencies,
  { runMsMax, signal }: SweepOptions,
): Promise<void> {
  const { db } = dependencies
  assertClocksAgree(dependencies)
  const endMs = performance.now() + runMsMax
  const mayGoOn = () => !signal.aborted && performance.now() < endMs
  await putRetentionPolicies(db, policies)
  const now = await advanceSweepTime(db, {
    now: dependencies.clock.now(),
    stepMs: STEP_MS_MAX,
  })
  const endless = policies.filter(({ keepsMs }) => keepsMs !== null)
  const byName = new Map(endless.map((policy) => [policy.name, policy]))
  const failures: Error[] = []
  let passes: readonly DuePass[] = await listDuePasses(db, endless)
  while (passes.length > 0 && mayGoOn()) {
    const left: DuePass[] = []
    for (const pass of passes) {
      const policy = byName.get(pass.name)
      if (policy === undefined) continue
      if (!mayGoOn()) break
      const beganMs = performance.now()
      try {
        const { place, isOver } = await runBatch(policy, pass, { db, now })
        if (!isOver) left.push({ ...pass, after: place, isUnderWay: true })
      } catch (error) {
        await failPass(db, pass.name, error instanceof Error ? error.message : String(error))
        failures.push(new Error(`the retention of ${pass.name} failed`, { cause: error }))
      }
      await rest(performance.now() - beganMs, signal)
    }
    passes = left
  }
  const [failure] = failures
  if (failure !== undefined) throw failure
}

function assertClocksAgree({ clock, machineClock }: SweepDependencies): void {
  const aheadMs = clock.now().getTime() - machineClock.now().getTime()
  if (aheadMs <= AHEAD_MS_MAX) return
  const minutes = Math.round(aheadMs / MINUTE_MS)
  throw new Error(
    `the clock of the database is ${minutes} minutes ahead of that of this machine: nothing is deleted by its age until they agree`,
  )
}

async function runBatch(
  policy: RetentionPolicy,
  { after, isUnderWay }: DuePass,
  { db, now }: Pick<SweepDependencies, 'db'> & { readonly now: Date },
): Promise<RetentionBatch> {
  const { name, batchSize: limit } = policy
  const keepsMs = policy.keepsMs ?? 0
  const before = new Date(now.getTime() - keepsMs)
  const soon = new Date(before.getTime() + keepsMs * DEFERRED_PART)
  if (!isUnderWay) {
    await policy.preparePass?.(before)
    await beginPass(db, name, (await policy.endPartitions?.(db, before)) ?? 0)
  }
  return db.transaction().execute(async (tx) => {
    await boundTransaction(tx, { lockMs: LOCK_MS_MAX, statementMs: STATEMENT_MS_MAX })
    const batch = await policy.runBatch(tx, { before, soon, after, limit })
    await advancePass(tx, policy, batch)
    return batch
  })
}

/** As long as the work took: half of a connection at the most. */
async function rest(workMs: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.min(workMs, REST_MS_MAX), undefined, { signal }).catch(() => undefined)
}
