/**
 * The buffered TLS logger: lines wait on the agent's disk until a request that carried them
 * succeeded. Delivery is at least once.
 */
import { SECOND_MS } from './agent-context.ts'
import type { AgentContext } from './agent-context.ts'
import type { AgentRequester } from './tls-request.ts'
import type { CancelTask } from '../scheduler.ts'

type LogType = 'result' | 'status'

const LOG_TYPES: readonly LogType[] = ['result', 'status']
const LINES_PER_BATCH_MAX = 1_024
const LINE_BYTES_MAX = 1024 * 1024

export interface LogForwarder {
  /** Buffers one line of JSON; lines over 1 MiB are dropped. */
  append(type: LogType, line: string): void
  /** Sends what an earlier run left behind. */
  resume(): void
}

interface Backoff {
  failures: number
  /** On the steady clock of the scheduler. */
  untilMs: number
}

/** Removes the oldest lines beyond `linesMax`, results first; returns how many. */
function purge(logLines: Readonly<Record<LogType, string[]>>, linesMax: number): number {
  const { result, status } = logLines
  const excess = result.length + status.length - linesMax
  if (linesMax === 0 || excess <= 0) return 0
  const fromResult = Math.min(excess, result.length)
  result.splice(0, fromResult)
  status.splice(0, excess - fromResult)
  return excess
}

class BufferedLogForwarder implements LogForwarder {
  readonly #context: AgentContext
  readonly #requester: AgentRequester
  readonly #backoffs: Record<LogType, Backoff> = {
    result: { failures: 0, untilMs: 0 },
    status: { failures: 0, untilMs: 0 },
  }
  #isChecking = false
  #armed: { readonly dueMs: number; readonly cancel: CancelTask } | undefined

  constructor(context: AgentContext, requester: AgentRequester) {
    this.#context = context
    this.#requester = requester
  }

  append(type: LogType, line: string): void {
    const { counters, state } = this.#context
    counters.linesLogged += 1
    if (Buffer.byteLength(line) > LINE_BYTES_MAX) {
      counters.linesOversized += 1
      return
    }
    state.logLines[type].push(line)
    this.resume()
  }

  resume(): void {
    const { lifetime, scheduler, state } = this.#context
    if (this.#isChecking || lifetime.isOver()) return
    const waiting = LOG_TYPES.filter((type) => state.logLines[type].length > 0)
    if (waiting.length === 0) return
    const earliestMs = Math.min(...waiting.map((type) => this.#backoffs[type].untilMs))
    const periodMs = this.#context.flags().loggerPeriodSeconds * SECOND_MS
    const dueMs = Math.max(scheduler.steadyMs() + periodMs, earliestMs)
    if (this.#armed !== undefined && this.#armed.dueMs <= dueMs) return
    this.#armed?.cancel()
    const cancel = lifetime.later(dueMs - scheduler.steadyMs(), () => void this.#check())
    this.#armed = { dueMs, cancel }
  }

  async #check(): Promise<void> {
    const { counters, state } = this.#context
    this.#armed = undefined
    this.#isChecking = true
    for (const type of LOG_TYPES) await this.#flush(type)
    counters.linesPurged += purge(state.logLines, this.#context.flags().bufferedLinesMax)
    this.#isChecking = false
    this.resume()
  }

  async #flush(type: LogType): Promise<void> {
    const { counters, lifetime, scheduler, state } = this.#context
    const backoff = this.#backoffs[type]
    const lines = state.logLines[type].slice(0, LINES_PER_BATCH_MAX)
    if (lifetime.isOver() || lines.length === 0 || scheduler.steadyMs() < backoff.untilMs) return
    counters.linesSent += lines.length
    const result = await this.#requester.send({
      path: this.#context.flags().paths.log,
      isCompressed: this.#context.flags().isLoggerCompressed,
      renderBody: (nodeKey) =>
        `{"node_key":${JSON.stringify(nodeKey)},"log_type":"${type}","data":[${lines.join(',')}]}`,
    })
    if (lifetime.isOver()) return
    if (result.outcome !== 'success') {
      this.#backOff(backoff)
      return
    }
    state.logLines[type].splice(0, lines.length)
    counters.linesAcknowledged += lines.length
    backoff.failures = 0
    backoff.untilMs = 0
  }

  #backOff(backoff: Backoff): void {
    const { loggerPeriodSeconds, loggerBackoffMaxSeconds } = this.#context.flags()
    backoff.failures += 1
    const waitSeconds = loggerPeriodSeconds * backoff.failures * backoff.failures
    backoff.untilMs =
      this.#context.scheduler.steadyMs() +
      Math.min(waitSeconds, loggerBackoffMaxSeconds) * SECOND_MS
  }
}

/**
 * Sends buffered lines every `loggerPeriodSeconds`, at most 1,024 of a type at once. A failure waits
 * period times n squared, at most `loggerBackoffMaxSeconds`, for results and statuses apart.
 */
export function createLogForwarder(context: AgentContext, requester: AgentRequester): LogForwarder {
  return new BufferedLogForwarder(context, requester)
}
