import type { Authorization } from '../authorization/authorization-source.ts'
import { TransmitterError } from '../errors.ts'
import { createMemoryJtiStore } from '../jti-store.ts'
import { createPollClient } from '../poll-client.ts'
import { createPushHandler, type RefusedOutcome } from '../push-handler.ts'
import { createSetVerifier, type VerifiedSet } from '../verify-set.ts'
import { toEventLine, toEventRecord } from './event-line.ts'
import { openKeySource, type KeyLocation } from './key-location.ts'
import { servePush } from './serve-push.ts'
import { printable, type TextOutput } from './text-output.ts'

/** How events come in: pushed to a port of this machine, or polled from a URL. */
export type ListenSource =
  | {
      readonly method: 'push'
      /** Default `127.0.0.1`. */
      readonly host?: string
      /** 0 takes a free port. */
      readonly port: number
      /** The Authorization header that the transmitter must send. */
      readonly authorization?: string | undefined
    }
  | {
      readonly method: 'poll'
      readonly url: string
      readonly authorization?: Authorization | undefined
      /** See the poll client; default `post`. */
      readonly form?: 'post' | 'get'
      /** See the poll client. */
      readonly idlePauseMs?: number
      readonly headers?: Readonly<Record<string, string>>
    }

/** What `listen` needs. */
export interface ListenOptions extends KeyLocation {
  readonly source: ListenSource
  readonly issuer: string
  readonly audience: string | readonly string[]
  /** One JSON object per line instead of text. */
  readonly isJson?: boolean
  /** Stop after this many different events. */
  readonly eventsMax?: number
  readonly output: TextOutput
  /** Where problems and counts go. */
  readonly diagnostics: TextOutput
  /** Told the push URL, or the polled URL, once events can come. */
  readonly onReady?: (url: string) => void
  /** Told of each event after it was printed. */
  readonly onEvent?: (set: VerifiedSet) => void
  /** Told of each SET that was refused, and of each request that failed. */
  readonly onProblem?: (problem: TransmitterError | RefusedOutcome) => void
  readonly signal: AbortSignal
}

/** What was received until the end. */
export interface ListenSummary {
  readonly received: number
  /** SETs that were refused, and requests that failed. */
  readonly problems: number
}

/**
 * Receives events and prints one line for each verified one, once, until the signal is aborted or
 * enough have come. Problems are printed as they happen and do not end it.
 *
 * @throws TypeError, TransmitterError or a system error when listening cannot begin.
 */
export async function listen(options: ListenOptions): Promise<ListenSummary> {
  const counts = { received: 0, problems: 0 }
  const enough = new AbortController()
  const verifier = createSetVerifier({
    issuer: options.issuer,
    audience: options.audience,
    keys: await openKeySource(options),
  })
  const intake = {
    verifier,
    seen: createMemoryJtiStore(),
    onEvent(set: VerifiedSet) {
      counts.received += 1
      printEvent(options, set)
      options.onEvent?.(set)
      if (counts.received === options.eventsMax) enough.abort()
    },
  }
  const onProblem = (problem: TransmitterError | RefusedOutcome) => {
    counts.problems += 1
    options.onProblem?.(problem)
    options.diagnostics.write(`${describeProblem(problem)}\n`)
  }
  const signal = AbortSignal.any([options.signal, enough.signal])
  if (options.source.method === 'push') {
    const { authorization } = options.source
    const handler = createPushHandler({ ...intake, authorization, onRefused: onProblem })
    await servePush(handler, { ...options.source, signal, onReady: options.onReady })
  } else {
    const { url, ...polling } = options.source
    const isHttpAllowed = options.isHttpAllowed ?? false
    const client = createPollClient({
      ...intake,
      ...polling,
      endpointUrl: url,
      isHttpAllowed,
      onError: onProblem,
    })
    options.onReady?.(url)
    await client.start(signal)
  }
  options.diagnostics.write(`received ${counts.received}, problems ${counts.problems}\n`)
  return counts
}

function printEvent(options: ListenOptions, set: VerifiedSet): void {
  const nowMs = Date.now()
  const line =
    options.isJson === true ? JSON.stringify(toEventRecord(set, nowMs)) : toEventLine(set, nowMs)
  options.output.write(`${line}\n`)
}

/** A problem in one line that is fit for a terminal. */
export function describeProblem(problem: TransmitterError | RefusedOutcome): string {
  if (problem instanceof TransmitterError) return printable(`${problem.code}: ${problem.message}`)
  if (problem.kind === 'refused') {
    return printable(`refused: ${problem.error.err}: ${problem.error.message}`)
  }
  const text = problem.error instanceof Error ? problem.error.message : 'unknown error'
  return printable(`${problem.kind}: ${text}`)
}
