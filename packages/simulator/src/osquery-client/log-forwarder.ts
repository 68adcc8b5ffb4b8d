/**
 * The buffered TLS logger: lines wait on the agent's disk until a request that carried them
 * succeeded. Delivery is at least once.
 */
import { SECOND_MS } from './agent-context.ts'
import type { AgentContext } from './agent-context.ts'
import type { AgentRequester } from './tls-request.ts'

export type LogType = 'result' | 'status'

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
  untilMs: number
}

/**
 * Sends buffered lines every `loggerPeriodSeconds`, at most 1,024 of a type at once. A failure waits
 * period times n squared, at most `loggerBackoffMaxSeconds`, for results and statuses apart.
 */
export function createLogForwarder(context: AgentContext, requester: AgentRequester): LogForwarder {
  const { counters, lifetime, scheduler, state } = context
  const backoffs: Record<LogType, Backoff> = {
    result: { failures: 0, untilMs: 0 },
    status: { failures: 0, untilMs: 0 },
  }
  let isArmed = false

  function arm(): void {
    if (isArmed || lifetime.isOver) return
    const waiting = LOG_TYPES.filter((type) => state.logLines[type].length > 0)
    if (waiting.length === 0) return
    isArmed = true
    const earliestMs = Math.min(...waiting.map((type) => backoffs[type].untilMs))
    const periodMs = context.flags().loggerPeriodSeconds * SECOND_MS
    lifetime.later(Math.max(periodMs, earliestMs - scheduler.nowMs()), () => void check())
  }

  async function check(): Promise<void> {
    for (const type of LOG_TYPES) await flush(type)
    purge()
    isArmed = false
    arm()
  }

  async function flush(type: LogType): Promise<void> {
    const backoff = backoffs[type]
    const lines = state.logLines[type].slice(0, LINES_PER_BATCH_MAX)
    if (lifetime.isOver || lines.length === 0 || scheduler.nowMs() < backoff.untilMs) return
    counters.linesSent += lines.length
    const result = await requester.send({
      path: context.flags().paths.log,
      isCompressed: context.flags().isLoggerCompressed,
      renderBody: (nodeKey) =>
        `{"node_key":${JSON.stringify(nodeKey)},"log_type":"${type}","data":[${lines.join(',')}]}`,
    })
    if (lifetime.isOver) return
    if (result.outcome === 'success') {
      state.logLines[type].splice(0, lines.length)
      counters.linesAcknowledged += lines.length
      backoff.failures = 0
      backoff.untilMs = 0
      return
    }
    backoff.failures += 1
    const { loggerPeriodSeconds, loggerBackoffMaxSeconds } = context.flags()
    const waitSeconds = Math.min(
      loggerPeriodSeconds * backoff.failures * backoff.failures,
      loggerBackoffMaxSeconds,
    )
    backoff.untilMs = scheduler.nowMs() + waitSeconds * SECOND_MS
  }

  function purge(): void {
    const linesMax = context.flags().bufferedLinesMax
    const { result, status } = state.logLines
    const excess = result.length + status.length - linesMax
    if (linesMax === 0 || excess <= 0) return
    const fromResult = Math.min(excess, result.length)
    result.splice(0, fromResult)
    status.splice(0, excess - fromResult)
    counters.linesPurged += excess
  }

  return {
    append(type, line) {
      counters.linesLogged += 1
      if (Buffer.byteLength(line) > LINE_BYTES_MAX) {
        counters.linesOversized += 1
        return
      }
      state.logLines[type].push(line)
      arm()
    },
    resume: arm,
  }
}
