import { isStillAhead, SECOND_MS } from '../../platform/clock.ts'
import type { AgentSettings } from './agent-settings.ts'
import { nextRoundAtMs, roundAheadMsMax, toQueryId } from './check-schedule.ts'
import type { NodeState } from './node-cache.ts'
import type { RunnableCheck } from './node-store.ts'

/** Queries that somebody asks at this moment, kept in memory by device. */
export interface LiveQueries {
  /** With what the ids of the queries begin; not `check:`. */
  readonly idPrefix: string
  /** SQL by id; undefined when nothing is asked. Called on every check-in: must not wait. */
  pendingQueries(deviceId: string): Readonly<Record<string, string>> | undefined
}

/** Whether a check-in has to ask the database for work. */
export function hasDueChecks(state: NodeState, settings: AgentSettings, nowMs: number): boolean {
  if (isRoundDue(state, settings, nowMs)) return true
  if (!state.hasRefreshes) return false
  return !isStillAhead(state.refreshHeldUntilMs, nowMs, settings.handOutTimeoutMs)
}

function isRoundDue(state: NodeState, settings: AgentSettings, nowMs: number): boolean {
  const { checkIntervalMs, handOutTimeoutMs } = settings
  if (isStillAhead(state.nextRoundAtMs, nowMs, roundAheadMsMax(checkIntervalMs))) return false
  return !isStillAhead(state.roundHeldUntilMs, nowMs, handOutTimeoutMs)
}

/**
 * In how many milliseconds a device that has no due checks will have some, unless something changes.
 */
export function dueChecksInMs(state: NodeState, nowMs: number): number {
  const roundAtMs = Math.max(state.nextRoundAtMs, state.roundHeldUntilMs)
  const dueAtMs = state.hasRefreshes ? Math.min(roundAtMs, state.refreshHeldUntilMs) : roundAtMs
  return Math.max(0, dueAtMs - nowMs)
}

/**
 * How often in a row checks are handed out to a device that asks again without an answer; then they count as being
 * with it until their time-out, for it may end each time that it runs them.
 */
const HAND_OUTS_IN_A_ROW_MAX = 3
/** After so many requests that left, work counts as handed out: whoever always leaves costs no statement each time. */
const READS_LEFT_MAX = 10

/**
 * Notes that a device asks again. It runs and answers what it gets before it does: when nothing was written since,
 * what it was answered did not reach it, and is handed out once more. That an answer was sent does not say that it
 * arrived: proxies take it for a device that has left, and so does the system before the end of a connection is read.
 */
export function noteCheckIn(state: NodeState): void {
  if (!state.isHandOutDoubtful) return
  state.isHandOutDoubtful = false
  state.roundHeldUntilMs = 0
  state.refreshHeldUntilMs = 0
}

/**
 * Chooses what a device runs now from all that it can run, and notes that it was handed out: the
 * whole round when it is due, else the reruns that were requested. Answers SQL by query id.
 */
export function handOutChecks(
  state: NodeState,
  checks: readonly RunnableCheck[],
  settings: AgentSettings,
  nowMs: number,
): Record<string, string> {
  // Another process may have received the round that this one believes to be due.
  const ranAt = checks[0]?.checksRanAt
  if (ranAt !== undefined) {
    state.nextRoundAtMs = nextRoundAtMs(state.deviceId, ranAt, settings.checkIntervalMs)
  } else {
    state.nextRoundAtMs = nowMs + settings.checkIntervalMs
  }
  const refreshes = checks.filter((check) => check.isRefreshRequested)
  const isWholeRound = isRoundDue(state, settings, nowMs)
  const due = isWholeRound ? checks : refreshes
  const heldUntilMs = nowMs + settings.handOutTimeoutMs
  if (isWholeRound) state.roundHeldUntilMs = heldUntilMs
  state.refreshHeldUntilMs = heldUntilMs
  state.hasRefreshes = refreshes.length > 0
  if (due.length > 0) noteHandOut(state, nowMs)
  if (due.length > 0 && isWholeRound) {
    state.isRoundAwaited = true
    state.roundBeforeMs = ranAt?.getTime() ?? 0
  }
  if (refreshes.length > 0) state.accelerateUntilMs = nowMs + settings.accelerateMs
  return Object.fromEntries(
    due.map((check) => [toQueryId(check.checkId, check.revision), check.sql]),
  )
}

function noteHandOut(state: NodeState, nowMs: number): void {
  state.askedAtMs = nowMs
  state.readsLeft = 0
  state.handOutsInVain += 1
  state.isHandOutDoubtful = state.handOutsInVain < HAND_OUTS_IN_A_ROW_MAX
  if (!state.isHandOutDoubtful) state.handOutsInVain = 0
}

/** Whether what is due is left for the next request of a device, now that this one has left. */
export function isLeftForNext(state: NodeState): boolean {
  state.readsLeft += 1
  return state.readsLeft <= READS_LEFT_MAX
}

/** Notes that a device writes, whatever becomes of that: it got what it was asked. */
export function noteWrite(state: NodeState): void {
  state.isHandOutDoubtful = false
  state.handOutsInVain = 0
  state.readsLeft = 0
}

/** Notes what an answer means for the next check-in. */
export function noteAnswer(
  state: NodeState,
  answer: { readonly ranAt: Date; readonly isWholeRound: boolean },
  settings: AgentSettings,
): void {
  if (!answer.isWholeRound) return
  state.roundHeldUntilMs = 0
  state.nextRoundAtMs = nextRoundAtMs(state.deviceId, answer.ranAt, settings.checkIntervalMs)
}

const ALWAYS = 'SELECT 1'
const IDLE_ANSWER = '{"queries":{}}'

/**
 * The answer to a distributed read. Every query gets a discovery query that always holds: agents
 * before 5.8.1 run nothing without one as soon as any other query has one. `accelerate` is a whole
 * number of seconds, as current agents want it.
 */
export function toReadAnswer(
  queries: Readonly<Record<string, string>> | undefined,
  state: NodeState,
  { accelerateMs }: Pick<AgentSettings, 'accelerateMs'>,
  nowMs: number,
): string {
  const { accelerateUntilMs } = state
  const accelerate = isStillAhead(accelerateUntilMs, nowMs, accelerateMs)
    ? Math.ceil((accelerateUntilMs - nowMs) / SECOND_MS)
    : 0
  if (queries === undefined) {
    return accelerate === 0 ? IDLE_ANSWER : `{"queries":{},"accelerate":${accelerate}}`
  }
  const discovery = Object.fromEntries(Object.keys(queries).map((id) => [id, ALWAYS]))
  return JSON.stringify({ queries, discovery, ...(accelerate === 0 ? {} : { accelerate }) })
}
