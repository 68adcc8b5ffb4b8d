/*
 * The time by the clock of the database, where no statement is at hand that could read it. The processes of an
 * installation compare times with each other, and the clocks of their machines may differ or be set. Between two
 * looks at the database the time goes on with the steady clock of the process.
 */
import { sql, type Kysely } from 'kysely'
import { SECOND_MS, systemClock, type Clock } from '../clock.ts'

/** How often a process that stays looks at the clock of the database. */
export const SYNCHRONISE_INTERVAL_MS = 5 * SECOND_MS

/** What the clock looks at. */
export interface TimeSource {
  /** Milliseconds since the epoch by the clock of the database. */
  readTimeMs(): Promise<number>
  /** Milliseconds on a clock that nobody sets. */
  steadyMs(): number
}

/** Follows the clock of the database; the clock of the machine until it was looked at first. */
export class SynchronisedClock implements Clock {
  readonly #source: TimeSource
  /** What the time is ahead of the steady clock by. */
  #aheadMs: number
  /** How wrong that may have been when it was read. */
  #uncertaintyMs = Infinity

  constructor(source: TimeSource) {
    this.#source = source
    this.#aheadMs = systemClock.now().getTime() - source.steadyMs()
  }

  now(): Date {
    return new Date(this.#source.steadyMs() + this.#aheadMs)
  }

  /**
   * Looks at the clock of the database once. The database read it at some moment of the look: what differs by
   * less than half of the look is no difference, so that a slow answer does not move the time, unless the look
   * before was slower yet.
   */
  async synchronise(): Promise<void> {
    const beginMs = this.#source.steadyMs()
    const timeMs = await this.#source.readTimeMs()
    const endMs = this.#source.steadyMs()
    const uncertaintyMs = (endMs - beginMs) / 2
    const aheadMs = timeMs - (beginMs + uncertaintyMs)
    const isSurer = uncertaintyMs < this.#uncertaintyMs
    if (!isSurer && Math.abs(aheadMs - this.#aheadMs) <= uncertaintyMs) return
    this.#aheadMs = aheadMs
    this.#uncertaintyMs = uncertaintyMs
  }
}

/** The clock of a database as others follow it. */
export function toTimeSource<Tables>(db: Kysely<Tables>): TimeSource {
  return {
    async readTimeMs() {
      const { rows } = await sql<{ timeMs: number }>`
        select (extract(epoch from clock_timestamp()) * 1000)::float8 as "timeMs"`.execute(db)
      const [row] = rows
      if (row === undefined) throw new Error('the database told no time')
      return row.timeMs
    },
    steadyMs: () => performance.now(),
  }
}
