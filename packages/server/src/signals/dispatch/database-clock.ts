/*
 * Notices that the clock of the database was set back, while the service runs or while it is down, and shifts
 * the times that were stored by the clock before: they would lie ahead for as long as it lost. A clock that is
 * set forward only makes things due, which needs nothing. Does not own which times there are.
 */
import type { Kysely, Transaction } from 'kysely'
import { SECOND_MS } from '../../platform/clock.ts'
import { shiftDeviceTimes } from '../../posture/devices/clock-step-store.ts'
import type { Schema } from '../../schema/schema.ts'
import {
  getSeenAheadMs,
  resetSeenTime,
  shiftHappenings,
  shiftTimes,
  updateSeenTime,
  type ShiftedTimes,
  type TimeShift,
} from './database-clock-store.ts'
import type { DeliveryLog } from './delivery-log.ts'

/** Less is what transactions that began one after another may differ by, or what a clock loses when it is slewed. */
const STEP_MIN_MS = 2 * SECOND_MS
/** Transactions that began before the clock was set have ended by then. */
const LATE_WRITES_MS = 30 * SECOND_MS

export interface DatabaseClockDependencies {
  readonly db: Kysely<Schema>
  readonly log: DeliveryLog
  readonly leaseMs: number
}

/** A step that was noticed here. */
interface NoticedStep {
  readonly stepMs: number
  /** On the steady clock of `performance.now()`. */
  readonly noticedAtMs: number
  readonly transactionIds: readonly string[]
}

/** Compares the database's clock with the latest time that it has shown. */
export class DatabaseClock {
  readonly #dependencies: DatabaseClockDependencies
  #noticed: NoticedStep | undefined

  constructor(dependencies: DatabaseClockDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Looks once. Any number of processes may do it: one of them shifts, in one transaction. What was on its way
   * to the database meanwhile is shifted by the looks of the next `LATE_WRITES_MS`.
   */
  async follow(): Promise<void> {
    const { db } = this.#dependencies
    if (!(await updateSeenTime(db))) await this.#shiftForStep()
    else if (this.#noticed !== undefined) await this.#shiftLateWrites(this.#noticed)
  }

  async #shiftForStep(): Promise<void> {
    const { db, log } = this.#dependencies
    const noticed = await db.transaction().execute(async (tx) => {
      const stepMs = await getSeenAheadMs(tx)
      if (stepMs <= STEP_MIN_MS) return undefined
      const { transactionId } = await this.#shift(tx, {
        stepMs,
        plannedAfterMs: 0,
        hasPast: true,
        earlierShifts: [],
      })
      await this.#shiftPast(tx, stepMs)
      await resetSeenTime(tx)
      return { stepMs, noticedAtMs: performance.now(), transactionIds: [transactionId] }
    })
    if (noticed === undefined) return
    this.#noticed = noticed
    const fields = { step_ms: Math.round(noticed.stepMs) }
    log.warn(
      fields,
      'the clock of the database was set back; deliveries are planned anew, devices are evaluated anew',
    )
  }

  /** A retry that was planned meanwhile for about as late comes too early; none comes too late. */
  async #shiftLateWrites({ stepMs, noticedAtMs, transactionIds }: NoticedStep): Promise<void> {
    const passedMs = performance.now() - noticedAtMs
    const isLast = passedMs > LATE_WRITES_MS
    const { transactionId } = await this.#dependencies.db.transaction().execute(async (tx) => {
      // Processes took the time of the former clock until they looked at it again.
      if (isLast) await this.#shiftPast(tx, stepMs)
      return this.#shift(tx, {
        stepMs,
        plannedAfterMs: Math.max(0, stepMs - passedMs - LATE_WRITES_MS),
        hasPast: false,
        earlierShifts: transactionIds,
      })
    })
    this.#noticed = isLast
      ? undefined
      : { stepMs, noticedAtMs, transactionIds: [...transactionIds, transactionId] }
  }

  async #shiftPast(tx: Transaction<Schema>, stepMs: number): Promise<void> {
    await shiftDeviceTimes(tx, stepMs)
    await shiftHappenings(tx, stepMs)
  }

  #shift(tx: Transaction<Schema>, shift: Omit<TimeShift, 'leaseMs'>): Promise<ShiftedTimes> {
    return shiftTimes(tx, { ...shift, leaseMs: this.#dependencies.leaseMs })
  }
}
