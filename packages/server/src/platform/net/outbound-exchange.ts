/**
 * One request on its way: collects the answer, keeps the time limits and settles exactly once. Handles what
 * undici reports; knows neither URLs nor pools.
 */
import type { Dispatcher } from 'undici'
import type { IncomingHttpHeaders } from 'undici/types/header.js'
import type { ConnectionRecord } from './guarded-connector.ts'
import { describeExchangeError } from './describe-failure.ts'
import type { OutboundFailure, OutboundResult, OutboundTimings } from './outbound-result.ts'

/** Time limits of one request, in milliseconds. */
export interface OutboundTimeouts {
  /** From the request being written until the complete headers of the answer. */
  readonly headersMs: number
  /** From the headers until the end of the body. */
  readonly bodyMs: number
  /** From the call until the end, waiting for a connection included. */
  readonly totalMs: number
}

export interface BodyLimits {
  /** How much of the body is kept. */
  readonly bodyBytesMax: number
  /** How much is read so that the connection can be kept; a longer body ends the connection. */
  readonly drainBytesMax: number
}

/** The connection that a client uses at present; `requestCount` tells a fresh one from a reused one. */
export interface ConnectionSlot {
  current: ConnectionRecord & { requestCount: number; openedAtMs: number }
}

/** Timers may fire this much earlier than `performance.now` says. */
const TIMER_SLACK_MS = 2

type Phase = 'connect' | 'headers' | 'body'

/** Settles through `settle` once; afterwards everything that undici still reports is ignored. */
export class OutboundExchange implements Dispatcher.DispatchHandler {
  readonly #timeouts: OutboundTimeouts
  readonly #limits: BodyLimits
  readonly #onSettled: (result: OutboundResult) => void
  readonly #startedAtMs = performance.now()
  readonly #chunks: Buffer[] = []
  #phase: Phase = 'connect'
  #timer: NodeJS.Timeout
  #controller: Dispatcher.DispatchController | undefined
  #slot: ConnectionSlot | undefined
  #reusedConnection = false
  #sentAtMs = 0
  #firstByteMs: number | null = null
  #status: number | undefined
  #headers: IncomingHttpHeaders = {}
  #keptBytes = 0
  #readBytes = 0
  #isSettled = false

  constructor(
    timeouts: OutboundTimeouts,
    limits: BodyLimits,
    onSettled: (result: OutboundResult) => void,
  ) {
    this.#timeouts = timeouts
    this.#limits = limits
    this.#onSettled = onSettled
    this.#timer = setTimeout(expire, timeouts.totalMs, this)
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  /** Called when a client takes the request; the slot's connection may still be replaced before it is sent. */
  useConnection(slot: ConnectionSlot): void {
    this.#slot = slot
  }

  /** Ends the request as failed, if it has not ended yet. */
  fail(failure: OutboundFailure): void {
    if (this.#isSettled) return
    const status = this.#status
    const remoteAddress = this.#slot?.current.remoteAddress
    this.#settle({ kind: 'failed', ...failure, status, remoteAddress, timings: this.#timings() })
    this.#controller?.abort(new Error(failure.code))
  }

  /** The time limit of the present phase or of the whole request has passed. */
  expire(): void {
    const { headersMs, bodyMs, totalMs } = this.#timeouts
    if (performance.now() - this.#startedAtMs >= totalMs - TIMER_SLACK_MS) {
      const stage = this.#phase
      const message = `The exchange was not complete within ${inSeconds(totalMs)}`
      this.fail({ stage, code: 'deadline_exceeded', message, retryable: true })
    } else if (this.#phase === 'headers') {
      const message = `No answer within ${inSeconds(headersMs)} after the request was sent`
      this.fail({ stage: 'headers', code: 'headers_timeout', message, retryable: true })
    } else {
      const message = `The body of the answer was not complete within ${inSeconds(bodyMs)}`
      this.fail({ stage: 'body', code: 'body_timeout', message, retryable: true })
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isSettled) {
      controller.abort(new Error('settled'))
      return
    }
    this.#controller = controller
    this.#sentAtMs = performance.now()
    if (this.#slot !== undefined) this.#reusedConnection = this.#slot.current.requestCount++ > 0
    this.#enter('headers', this.#timeouts.headersMs)
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (this.#isSettled || status < 200) return
    this.#firstByteMs = performance.now() - this.#sentAtMs
    this.#status = status
    this.#headers = headers
    this.#enter('body', this.#timeouts.bodyMs)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return
    const kept = chunk.subarray(0, this.#limits.bodyBytesMax - this.#keptBytes)
    if (kept.length > 0) this.#chunks.push(kept)
    this.#keptBytes += kept.length
    this.#readBytes += chunk.length
    if (this.#readBytes <= this.#limits.drainBytesMax) return
    this.#succeed()
    controller.abort(new Error('body too long'))
  }

  onResponseEnd(): void {
    if (!this.#isSettled) this.#succeed()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#isSettled) this.fail(describeExchangeError(error, this.#status !== undefined))
  }

  #succeed(): void {
    this.#settle({
      kind: 'response',
      status: this.#status ?? 0,
      headers: this.#headers,
      body: Buffer.concat(this.#chunks, this.#keptBytes),
      bodyTruncated: this.#readBytes > this.#keptBytes,
      remoteAddress: this.#slot?.current.remoteAddress ?? '',
      timings: this.#timings(),
    })
  }

  #settle(result: OutboundResult): void {
    this.#isSettled = true
    clearTimeout(this.#timer)
    this.#onSettled(result)
  }

  #enter(phase: Phase, phaseMs: number): void {
    this.#phase = phase
    clearTimeout(this.#timer)
    const remainingMs = this.#startedAtMs + this.#timeouts.totalMs - performance.now()
    this.#timer = setTimeout(expire, Math.max(Math.min(phaseMs, remainingMs), 1), this)
  }

  #timings(): OutboundTimings {
    const connection = this.#reusedConnection ? undefined : this.#slot?.current
    return {
      dnsMs: connection?.dnsMs ?? null,
      connectMs: connection?.connectMs ?? null,
      tlsMs: connection?.tlsMs ?? null,
      firstByteMs: this.#firstByteMs,
      totalMs: performance.now() - this.#startedAtMs,
      reusedConnection: this.#reusedConnection,
    }
  }
}

/** One shared function for all timers: a closure per request would cost more than the timer. */
function expire(exchange: OutboundExchange): void {
  exchange.expire()
}

function inSeconds(ms: number): string {
  return `${ms / 1_000} s`
}
