/*
 * A clock that is set back: what was planned by the time before would wait for as long as the clock
 * lost. Owns noticing it and planning anew; a clock that is set forward only makes things due, which
 * needs nothing.
 */
import { sql, type Kysely, type Transaction } from 'kysely'
import { SECOND_MS, type Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import type { DeliveryLog } from './delivery-log.ts'

/** Compares a clock with one that nobody can set. */
export interface ClockWatch {
  /** By how much the clock was set back since the last look; 0 when it was not. */
  takeStepBackMs(): number
}

/** What clocks that are slowed down to the right time lose between two looks is far less. */
const STEP_MIN_MS = SECOND_MS
const BATCH_SIZE = 5_000

/** Watches `clock` from now on. `steadyNowMs` never jumps; the time since the process began by default. */
export function watchClock(
  clock: Clock,
  steadyNowMs: () => number = () => performance.now(),
): ClockWatch {
  const difference = () => steadyNowMs() - clock.now().getTime()
  let last = difference()
  return {
    takeStepBackMs() {
      const current = difference()
      const stepMs = current - last
      last = current
      return stepMs >= STEP_MIN_MS ? Math.round(stepMs) : 0
    },
  }
}

/** How far the clock went back, what is planned too late because of it, and what a claim may last. */
interface StepBack {
  readonly now: Date
  readonly stepMs: number
  /** What is planned for later than this time was planned by the clock as it was. */
  readonly from: Date
  readonly leaseMs: number
}

export interface ClockFollowerDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly log: DeliveryLog
  readonly watch: ClockWatch
  readonly leaseMs: number
}

/** Changes that read the clock before it was set are written by then. */
const LATE_WRITES_MS = 30 * SECOND_MS

/**
 * Plans anew what was planned by the time before. What is on its way to the database at that moment
 * is found for `LATE_WRITES_MS` afterwards.
 */
export class ClockFollower {
  readonly #dependencies: ClockFollowerDependencies
  /** How far the clock went back, as long as nothing is planned anew for it. */
  #stepMs = 0
  #last: { readonly stepMs: number; readonly followedAt: Date } | undefined

  constructor(dependencies: ClockFollowerDependencies) {
    this.#dependencies = dependencies
  }

  /** Looks at the clock; answers whether it was set back since the last look. */
  async follow(): Promise<boolean> {
    const { clock, log, watch } = this.#dependencies
    this.#stepMs += watch.takeStepBackMs()
    const now = clock.now()
    const stepMs = this.#stepMs
    if (stepMs === 0) {
      await this.#followLateWrites(now)
      return false
    }
    log.warn({ step_ms: stepMs }, 'the clock was set back; deliveries are planned anew')
    await this.#bringForward({ now, stepMs, from: now })
    this.#stepMs -= stepMs
    this.#last = { stepMs, followedAt: now }
    return true
  }

  /** Retries that were planned for about as late since then come too early, never too late. */
  async #followLateWrites(now: Date): Promise<void> {
    if (this.#last === undefined) return
    const { stepMs, followedAt } = this.#last
    const passedMs = now.getTime() - followedAt.getTime()
    const from = followedAt.getTime() + stepMs - LATE_WRITES_MS
    await this.#bringForward({ now, stepMs, from: new Date(Math.max(from, now.getTime())) })
    if (passedMs >= LATE_WRITES_MS) this.#last = undefined
  }

  #bringForward(step: Omit<StepBack, 'leaseMs'>): Promise<void> {
    const { db, leaseMs } = this.#dependencies
    return bringForward(db, { ...step, leaseMs })
  }
}

/**
 * Brings what is planned forward by as much as the clock went back, and to `now` at the earliest; no
 * claim lasts longer than a new one would. Orders among deliveries stay. Where several processes of one
 * machine do it, retries come too early, never too late. In one transaction.
 */
async function bringForward(db: Kysely<Schema>, step: StepBack): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string }>`
      select id from delivery_destination order by id`.execute(tx)
    for (const { id } of rows) await bringDeliveriesForward(tx, id, step)
    await sql`
      update delivery_destination set
        retry_not_before = case when retry_not_before > ${step.from}
          then ${earlier('retry_not_before', step)} else retry_not_before end,
        failing_since = case when failing_since > ${step.now} then ${step.now} else failing_since end
      where retry_not_before > ${step.from} or failing_since > ${step.now}`.execute(tx)
  })
}

async function bringDeliveriesForward(
  tx: Transaction<Schema>,
  destinationId: string,
  step: StepBack,
): Promise<void> {
  const { now, from } = step
  const leaseEnd = new Date(now.getTime() + step.leaseMs)
  let lastId = '0'
  for (;;) {
    const { rows } = await sql<{ id: string }>`
      update delivery set
        next_attempt_at = case when next_attempt_at > ${from}
          then ${earlier('next_attempt_at', step)} else next_attempt_at end,
        claim_expires_at = case when claim_expires_at > ${leaseEnd}
          then ${leaseEnd} else claim_expires_at end
      where id in (
        select id from delivery
        where destination_id = ${destinationId} and state = 'queued' and id > ${lastId}
          and (next_attempt_at > ${from} or claim_expires_at > ${leaseEnd})
        order by id limit ${BATCH_SIZE} for update)
      returning id`.execute(tx)
    lastId = rows.map(({ id }) => id).reduce(later, lastId)
    if (rows.length < BATCH_SIZE) return
  }
}

function earlier(column: 'next_attempt_at' | 'retry_not_before', { now, stepMs }: StepBack) {
  return sql`greatest(${now}::timestamptz,
    ${sql.ref(column)} - make_interval(secs => ${stepMs / SECOND_MS}::double precision))`
}

function later(left: string, right: string): string {
  return BigInt(left) > BigInt(right) ? left : right
}
