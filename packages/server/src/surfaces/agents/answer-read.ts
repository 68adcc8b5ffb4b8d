/*
 * What a request for work is answered, and when: at once while there is work, else when there is some or the hold
 * ends. A hold that ends with nothing has asked the database nothing.
 */
import type { AgentSettings } from '../../posture/osquery/agent-settings.ts'
import {
  dueChecksInMs,
  handOutChecks,
  hasDueChecks,
  isLeftForNext,
  noteCheckIn,
  toReadAnswer,
} from '../../posture/osquery/hand-out-work.ts'
import type { HeldRead } from '../../posture/osquery/held-reads.ts'
import type { NodeState } from '../../posture/osquery/node-cache.ts'
import { listRunnableChecks } from '../../posture/osquery/node-store.ts'
import type { AgentDependencies } from './agent-handler.ts'
import { isAwaited } from './is-awaited.ts'

type Queries = Readonly<Record<string, string>>

/** Answers distributed reads with their text. */
export interface ReadAnswerer {
  /**
   * `read` is the place of the request, undefined when it cannot be held; `isOver` says whether nobody waits for the
   * answer any more.
   */
  readonly answer: (
    state: NodeState,
    read: HeldRead | undefined,
    isOver: () => boolean,
  ) => Promise<string>
  /** Whether a device has nothing to do, as far as can be told at once. */
  readonly isIdle: (state: NodeState, nowMs: number) => boolean
  /** For how long a device that has nothing to do is held. */
  readonly holdMs: (state: NodeState) => number
  /** What a device that has nothing to do is answered. */
  readonly idleAnswer: (state: NodeState, nowMs: number) => string
  /** Holds a device that has nothing to do. */
  readonly hold: (state: NodeState, read: HeldRead) => Promise<string>
}

/** Creates the function that answers requests for work. */
export function createReadAnswerer(deps: AgentDependencies): ReadAnswerer {
  const { clock, hurried, liveQueries, nodes, questions, settings } = deps
  const nowMs = () => clock.now().getTime()

  /** What the device shall run now; undefined for nothing. */
  async function findWork(state: NodeState, isOver: () => boolean): Promise<Queries | undefined> {
    // Alone: somebody waits, and a device answers everything that it was given at once.
    const question = questions.pendingQueries(state.deviceId)
    if (question !== undefined) return question
    const asked = liveQueries.pendingQueries(state.deviceId)
    if (!hasDueChecks(state, settings, nowMs())) return asked
    // Nobody would get what is handed out now.
    if (isOver()) return undefined
    const checks = await listRunnableChecks(deps.db, state.deviceId)
    if (isOver() && isLeftForNext(state)) return undefined
    const due = handOutChecks(state, checks, settings, nowMs())
    return Object.keys(due).length > 0 ? { ...asked, ...due } : asked
  }

  function toAnswer(queries: Queries | undefined, state: NodeState, atMs = nowMs()): string {
    // A device that comes back sooner than that would be slowed down.
    const answerSettings = isAwaited(state, hurried) ? { accelerateMs: 0 } : settings
    return toReadAnswer(queries, state, answerSettings, atMs)
  }

  const holdMs = (state: NodeState) => toHoldMs(settings, isAwaited(state, hurried))

  /** Waits for work until the hold ends. */
  async function awaitWork(state: NodeState, read: HeldRead): Promise<Queries | undefined> {
    const endsAtMs = performance.now() + holdMs(state)
    for (;;) {
      const leftMs = endsAtMs - performance.now()
      if (leftMs <= 0 || read.isOver) return undefined
      const outcome = await read.wait(Math.min(leftMs, dueChecksInMs(state, nowMs())))
      if (outcome === 'over') return undefined
      // A device that is not known by its key any more is told so when it shows the key again.
      if (outcome === 'woken' && (await nodes.refresh(state)) === undefined) return undefined
      const queries = await findWork(state, () => read.isOver)
      if (queries !== undefined) return queries
    }
  }

  /** A device that asks again without an answer may have given it to another process. */
  async function lookForAnswer(state: NodeState): Promise<void> {
    if (!state.isRoundAwaited) return
    nodes.invalidate(state.deviceId)
    await nodes.refresh(state)
    state.isRoundAwaited = false
  }

  const hold = async (state: NodeState, read: HeldRead) =>
    toAnswer(await awaitWork(state, read), state)

  return {
    async answer(state, read, isOver) {
      noteCheckIn(state)
      await lookForAnswer(state)
      const queries = await findWork(state, isOver)
      if (queries !== undefined || read === undefined) return toAnswer(queries, state)
      return hold(state, read)
    },
    isIdle: (state, atMs) =>
      !state.isHandOutDoubtful &&
      !state.isRoundAwaited &&
      questions.pendingQueries(state.deviceId) === undefined &&
      liveQueries.pendingQueries(state.deviceId) === undefined &&
      !hasDueChecks(state, settings, atMs),
    holdMs,
    idleAnswer: (state, atMs) => toAnswer(undefined, state, atMs),
    hold,
  }
}

function toHoldMs({ checkInHoldMs, hurried }: AgentSettings, isSoon: boolean): number {
  return isSoon ? hurried.checkInHoldMs : checkInHoldMs
}
