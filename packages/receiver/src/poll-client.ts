// The receiving end of poll delivery (RFC 8936). A SET is acknowledged only after the application
// has handled it; what it could not handle stays with the transmitter and comes again.
import { nextDelayMs, sleep } from './back-off.ts'
import { SetVerificationError, TransmitterError } from './errors.ts'
import { createEventIntake, type EventIntakeOptions } from './event-intake.ts'
import { createPollExchange, type PollAnswer, type PollExchangeOptions } from './poll-exchange.ts'
import type { RefusedOutcome } from './push-handler.ts'
import { requireAmounts } from './require-amounts.ts'
import { tellListener } from './tell-listener.ts'

/** A poll that brings nothing in less than this was not a long one, whatever was asked for. */
const LONG_POLL_MS_MIN = 1_000

/** What a poll client needs. */
export interface PollClientOptions extends EventIntakeOptions, PollExchangeOptions {
  /**
   * Told of every request that failed and every SET that was not handled; for logs. What it throws
   * is ignored.
   */
  readonly onError?: (error: TransmitterError | RefusedOutcome) => unknown
  /**
   * Pause in milliseconds after a poll that is answered at once with nothing, be it asked for or
   * because the transmitter does not wait. Default 5000.
   */
  readonly idlePauseMs?: number
  /** First pause in milliseconds after a failure; doubles each time. Default 1000. */
  readonly backOffMs?: number
  /** Longest pause in milliseconds after a failure. Default 60000. */
  readonly backOffMaxMs?: number
  /** Longest pause in milliseconds that a Retry-After can ask for. Default 3600000. */
  readonly retryAfterMaxMs?: number
  /** Answers a number from 0 to below 1, for jitter. */
  readonly random?: () => number
}

/** What one poll brought. */
export interface PollOutcome {
  readonly handled: number
  readonly duplicates: number
  readonly refused: number
  /** Not handled and not acknowledged; these come again. */
  readonly failed: number
  readonly isMoreAvailable: boolean
}

/** Fetches SETs from one poll endpoint. */
export interface PollClient {
  /**
   * Polls once, handles what comes in order, and acknowledges it.
   *
   * @throws TransmitterError when a request fails; what was handled is acknowledged by the next one.
   */
  pollOnce(signal?: AbortSignal): Promise<PollOutcome>
  /**
   * Polls until the signal is aborted, then acknowledges what is handled and resolves. Never
   * rejects: failures go to `onError` and are followed by a pause, with jitter, that grows while
   * nothing is handled, or that the transmitter asked for.
   */
  start(signal: AbortSignal): Promise<void>
}

/**
 * Creates a poll client. One loop at a time per client.
 *
 * @throws TypeError when the endpoint is neither HTTPS nor loopback, or a time, size or count is none.
 */
export function createPollClient(options: PollClientOptions): PollClient {
  const exchange = createPollExchange(options)
  const { idlePauseMs = 5_000, backOffMs, backOffMaxMs, retryAfterMaxMs } = options
  requireAmounts({ idlePauseMs, backOffMs, backOffMaxMs, retryAfterMaxMs })
  const repeats = createRepeatDetector()
  const takeIn = createTakeIn(options, { exchange, repeats })

  async function pollOnce(signal?: AbortSignal): Promise<PollOutcome> {
    const outcome = await takeIn(await exchange.poll(signal), signal)
    await exchange.flush()
    return outcome
  }

  /** One turn of the loop; its acknowledgements ride on the next poll unless that has to wait. */
  async function pollInLoop(signal: AbortSignal, failures: number): Promise<LoopTurn> {
    const startedAtMs = performance.now()
    try {
      const outcome = await takeIn(await exchange.poll(signal), signal)
      const hasFailed = outcome.failed > 0 || repeats.isRepeating()
      if (hasFailed) {
        await exchange.flush()
        // What cannot be handled must not hold up what can: only nothing but failures is a reason
        // to wait longer each time.
        const isStuck = repeats.isRepeating() || outcome.handled + outcome.refused === 0
        return isStuck
          ? { hasFailed, delayMs: nextDelayMs(options, failures) }
          : { hasFailed: false, delayMs: Math.min(idlePauseMs, nextDelayMs(options, 0)) }
      }
      const isIdle = outcome.handled + outcome.duplicates + outcome.refused === 0
      const hasWaited = exchange.isLongPoll && performance.now() - startedAtMs >= LONG_POLL_MS_MIN
      return { hasFailed, delayMs: isIdle && !hasWaited ? idlePauseMs : 0 }
    } catch (error) {
      if (signal.aborted) return { hasFailed: false, delayMs: 0 }
      const failure = toTransmitterError(error)
      tellListener(options.onError, failure)
      return { hasFailed: true, delayMs: nextDelayMs(options, failures, failure.retryAfterMs) }
    }
  }

  async function start(signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      const { hasFailed, delayMs } = await pollInLoop(signal, failures)
      failures = hasFailed ? failures + 1 : 0
      await sleep(delayMs, signal)
    }
    await exchange
      .flush()
      .catch((error: unknown) => tellListener(options.onError, toTransmitterError(error)))
  }

  return { pollOnce, start }
}

/** What a poll client works with. */
interface PollParts {
  readonly exchange: ReturnType<typeof createPollExchange>
  readonly repeats: ReturnType<typeof createRepeatDetector>
}

/** Handles what a poll brought, in order. */
function createTakeIn(options: PollClientOptions, { exchange, repeats }: PollParts) {
  const intake = createEventIntake(options)

  return async function takeIn(answer: PollAnswer, signal?: AbortSignal): Promise<PollOutcome> {
    const counts = { handled: 0, duplicates: 0, refused: 0, failed: 0 }
    const finished = new Set<string>()
    for (const jti of answer.malformed) {
      const error = new SetVerificationError('invalid_request', 'the entry is not a SET')
      exchange.reportError(jti, error)
      finished.add(jti)
      counts.refused += 1
      tellListener(options.onError, { kind: 'refused', error })
    }
    let done = 0
    for (const [jti, token] of answer.sets) {
      // Stopped between two SETs: the rest is not acknowledged and comes again.
      if (signal?.aborted === true) break
      const outcome = await intake(token)
      switch (outcome.kind) {
        case 'handled':
        case 'duplicate':
          exchange.acknowledge(jti)
          finished.add(jti)
          counts[outcome.kind === 'handled' ? 'handled' : 'duplicates'] += 1
          break
        case 'refused':
          exchange.reportError(jti, outcome.error)
          finished.add(jti)
          counts.refused += 1
          tellListener(options.onError, outcome)
          break
        case 'handler_failed':
          counts.failed += 1
          tellListener(options.onError, outcome)
          break
        case 'keys_unavailable':
          counts.failed += answer.sets.size - done
          tellListener(options.onError, outcome)
          break
      }
      // The rest would overtake it when the keys are there a moment later: it comes again as well.
      if (outcome.kind === 'keys_unavailable') break
      done += 1
    }
    repeats.note(finished)
    return { ...counts, isMoreAvailable: answer.isMoreAvailable }
  }
}

/** Sees a transmitter that sends again what it was told is finished, and that needs a pause. */
function createRepeatDetector() {
  let before: ReadonlySet<string> = new Set()
  let isRepeating = false
  return {
    isRepeating: () => isRepeating,
    note(finished: ReadonlySet<string>): void {
      isRepeating = finished.size > 0 && [...finished].every((jti) => before.has(jti))
      before = finished
    },
  }
}

/** What a turn of the loop came to, and the pause after it. */
interface LoopTurn {
  readonly hasFailed: boolean
  readonly delayMs: number
}

function toTransmitterError(error: unknown): TransmitterError {
  if (error instanceof TransmitterError) return error
  return new TransmitterError('network', 'the poll failed', { cause: error })
}
