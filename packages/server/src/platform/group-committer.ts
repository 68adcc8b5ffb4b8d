/*
 * Does together what comes together: a transaction, or a statement, costs many times what one more member in it does.
 * What comes first goes at once; what comes while it is under way goes with the next. Owns when a group begins, its
 * bounds, and that a member that fails fails alone; what a group does, others decide.
 */
import { AppError } from './app-error.ts'
import { SECOND_MS } from './clock.ts'

export interface GroupLimits {
  /** Members of a group. */
  readonly membersMax: number
  /** What the members of a group hold, in bytes; a larger member is a group of its own. */
  readonly bytesMax: number
  /** Groups that are committed at once. Another than the first begins when it is full, or the one before is slow. */
  readonly runningMax: number
  /** Members that wait; one more is refused. */
  readonly waitingMax: number
  /** How long a member waits for its group to begin. */
  readonly waitMaxMs: number
}

/** Instead of a result: nothing was done of a member, which goes with a later group, behind those that wait. */
export const LEFT_FOR_LATER = Symbol('left for a later group')

export interface GroupCommitterOptions<Member, Result> {
  readonly limits: GroupLimits
  /** Commits a group, all of it or nothing, and answers the result of each member in their order. */
  readonly commit: (
    members: readonly Member[],
  ) => Promise<readonly (Result | typeof LEFT_FOR_LATER)[]>
  /** Whether an error says that no other member would fare better, as when the database is away. */
  readonly isFaultOfAll: (error: unknown) => boolean
  /** `PAUSE_PER_MEMBER_MS` where it is left out. */
  readonly pausePerMemberMs?: number
  /** The longest pause; `PAUSE_MAX_MS` where it is left out. */
  readonly pauseMaxMs?: number
}

/**
 * How long a pause a group leaves for each of its members but the first: whatever comes alone waits for nothing, and
 * under load groups become larger rather than more.
 */
const PAUSE_PER_MEMBER_MS = 5
const PAUSE_MAX_MS = 30
/** A group that takes longer, as for a lock that another holds, no longer holds up those who wait. */
const SLOW_MS = 250
const RETRY_AFTER_SECONDS = 5

/*
 * How a group that failed is taken apart. Halves find one poisoned member of 64 by 12 more commits, where one by one
 * takes 64. Two things make that dear. A fault that lasts, as a lock that somebody holds or a conflict that did not go
 * away when its transaction was repeated, would be waited for at every level: such a group is taken apart at once, as
 * small transactions conflict least. And where many members are poisoned, most halves fail: their number is bounded.
 */
const SMALL_MEMBERS = 4
const LASTING_MS = SECOND_MS
const HALVINGS_PER_LEVEL = 2

interface Waiting<Member, Result> {
  readonly member: Member
  readonly bytes: number
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
  /** Until when it waits for a group, on the steady clock of `performance.now()`. */
  readonly waitsUntilMs: number
  timer?: NodeJS.Timeout
}

/** Why a group is not committed. */
interface Fault {
  readonly cause: unknown
  readonly lastedMs: number
}

/** A committer of one process. */
export class GroupCommitter<Member, Result> {
  readonly #options: GroupCommitterOptions<Member, Result>
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiting<Member, Result>>()
  readonly #running = new Set<Promise<void>>()
  #isClosed = false
  /** On the steady clock of `performance.now()`. */
  #startedAtMs = -Infinity
  #pausedUntilMs = -Infinity
  #timer: NodeJS.Timeout | undefined

  constructor(options: GroupCommitterOptions<Member, Result>) {
    this.#options = options
  }

  /**
   * Resolves with the result of the member when its group is committed. When a group fails, its parts are
   * committed, down to single members, so that each rejects for its own fault alone.
   *
   * @throws AppError `unavailable` when too many wait, the group or the part of it did not begin in time, or this was
   * closed; then nothing was done
   */
  async add(member: Member, bytes: number): Promise<Result> {
    const { waitMaxMs, waitingMax } = this.#options.limits
    if (this.#isClosed || this.#waiting.size >= waitingMax) throw busy()
    return new Promise((resolve, reject) => {
      const waitsUntilMs = performance.now() + waitMaxMs
      const entry: Waiting<Member, Result> = { member, bytes, resolve, reject, waitsUntilMs }
      this.#wait(entry)
      this.#startDue()
    })
  }

  #wait(entry: Waiting<Member, Result>): void {
    this.#waiting.add(entry)
    const refuse = () => {
      this.#waiting.delete(entry)
      entry.reject(busy())
    }
    entry.timer = setTimeout(refuse, entry.waitsUntilMs - performance.now())
  }

  /** Takes no more members, and resolves when those that were taken are committed or have failed. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#startDue()
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  #startDue(): void {
    clearTimeout(this.#timer)
    while (this.#waiting.size > 0) {
      const waitMs = this.#nextStartMs() - performance.now()
      if (waitMs > 0) {
        if (waitMs !== Infinity) this.#timer = setTimeout(() => this.#startDue(), waitMs)
        return
      }
      this.#start(this.#takeGroup())
    }
  }

  #nextStartMs(): number {
    const { membersMax, runningMax } = this.#options.limits
    if (this.#running.size >= runningMax) return Infinity
    if (this.#waiting.size >= membersMax || this.#isClosed) return -Infinity
    return this.#running.size === 0 ? this.#pausedUntilMs : this.#startedAtMs + SLOW_MS
  }

  #takeGroup(): Waiting<Member, Result>[] {
    const { bytesMax, membersMax } = this.#options.limits
    const group: Waiting<Member, Result>[] = []
    let bytes = 0
    for (const next of this.#waiting) {
      bytes += next.bytes
      if (group.length >= membersMax || (group.length > 0 && bytes > bytesMax)) break
      this.#waiting.delete(next)
      clearTimeout(next.timer)
      group.push(next)
    }
    return group
  }

  #start(group: readonly Waiting<Member, Result>[]): void {
    this.#startedAtMs = performance.now()
    const run = this.#commit(group).finally(() => {
      this.#running.delete(run)
      const { pausePerMemberMs = PAUSE_PER_MEMBER_MS, pauseMaxMs = PAUSE_MAX_MS } = this.#options
      const pauseMs = Math.min(pauseMaxMs, (group.length - 1) * pausePerMemberMs)
      this.#pausedUntilMs = performance.now() + pauseMs
      this.#startDue()
    })
    this.#running.add(run)
  }

  async #commit(group: readonly Waiting<Member, Result>[]): Promise<void> {
    const fault = await this.#tryCommit(group)
    if (fault === undefined) return
    if (group.length === 1 || this.#options.isFaultOfAll(fault.cause)) {
      rejectAll(group, fault.cause)
      return
    }
    await this.#commitParts(group, fault)
  }

  /**
   * One of the members failed all, and which one is not known: parts of the group are committed, and parts of those
   * that fail. What has not begun after `waitMaxMs` is refused.
   */
  async #commitParts(group: readonly Waiting<Member, Result>[], fault: Fault): Promise<void> {
    const untilMs = performance.now() + this.#options.limits.waitMaxMs
    let halvingsLeft = HALVINGS_PER_LEVEL * Math.ceil(Math.log2(group.length))
    const split = (part: readonly Waiting<Member, Result>[], { lastedMs }: Fault) => {
      const isHalved = part.length > SMALL_MEMBERS && lastedMs < LASTING_MS && halvingsLeft > 0
      if (!isHalved) return part.map((member) => [member])
      halvingsLeft -= 1
      const middle = Math.floor(part.length / 2)
      return [part.slice(0, middle), part.slice(middle)]
    }
    const parts = split(group, fault)
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      if (performance.now() > untilMs) {
        rejectAll([...part, ...parts.flat()], busy())
        return
      }
      const next = await this.#tryCommit(part)
      if (next === undefined) continue
      if (this.#options.isFaultOfAll(next.cause)) {
        rejectAll([...part, ...parts.flat()], next.cause)
        return
      }
      if (part.length === 1) rejectAll(part, next.cause)
      else parts.unshift(...split(part, next))
    }
  }

  /** Resolves the members, or answers why they are not committed. */
  async #tryCommit(group: readonly Waiting<Member, Result>[]): Promise<Fault | undefined> {
    const startedAtMs = performance.now()
    try {
      const results = await this.#options.commit(group.map(({ member }) => member))
      this.#settle(group, results)
      return undefined
    } catch (cause) {
      return { cause, lastedMs: performance.now() - startedAtMs }
    }
  }

  #settle(
    group: readonly Waiting<Member, Result>[],
    results: readonly (Result | typeof LEFT_FOR_LATER)[],
  ): void {
    for (const [index, entry] of group.entries()) {
      const result = results[index] as Result | typeof LEFT_FOR_LATER
      if (result !== LEFT_FOR_LATER) entry.resolve(result)
      else if (performance.now() < entry.waitsUntilMs) this.#wait(entry)
      else entry.reject(busy())
    }
  }
}

function rejectAll(
  group: readonly Pick<Waiting<unknown, unknown>, 'reject'>[],
  error: unknown,
): void {
  for (const { reject } of group) reject(error)
}

function busy(): AppError {
  return new AppError(
    'unavailable',
    'The service is busy with what others have sent; send this again later.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  )
}
