// Measures a receiver at work: what this machine takes in and verifies, and how late events are.
import type { TransmitterError } from '../errors.ts'
import { createMemoryJtiStore } from '../jti-store.ts'
import { createPollClient } from '../poll-client.ts'
import { createPushHandler, type RefusedOutcome } from '../push-handler.ts'
import { createSetVerifier, type SetVerifier, type VerifiedSet } from '../verify-set.ts'
import { toBenchReport, toBenchText, type BenchReport, type BenchSamples } from './bench-report.ts'
import { eventTimestampMs } from './event-line.ts'
import { openKeySource, type KeyLocation } from './key-location.ts'
import { describeProblem, type ListenSource } from './listen.ts'
import { servePush } from './serve-push.ts'
import type { TextOutput } from './text-output.ts'

/** What `bench` needs. */
export interface BenchOptions extends KeyLocation {
  readonly source: ListenSource
  readonly issuer: string
  readonly audience: string | readonly string[]
  /** How long events are received. */
  readonly seconds: number
  /** Ends earlier, after this many different events. */
  readonly eventsMax?: number
  /** One JSON object instead of text. */
  readonly isJson?: boolean
  readonly output: TextOutput
  /** Where problems go. */
  readonly diagnostics: TextOutput
  /** Told the push URL, or the polled URL, once events can come. */
  readonly onReady?: (url: string) => void
  /** Told now and then how many events have come and how much time has passed. */
  readonly onProgress?: (events: number, elapsedSeconds: number) => void
  readonly signal: AbortSignal
}

/** Latencies and costs that are kept; events beyond are only counted. */
const SAMPLES_MAX = 1_000_000
/** Repeats are told from new events over this many. */
const REMEMBERED_MAX = 1_000_000
/** Tokens that are verified again, one after the other, when the events have come. */
const TOKENS_VERIFIED_ALONE = 500
const PROGRESS_MS = 250

/**
 * Receives events for some seconds and prints events per second, latencies and the cost of
 * verifying. Latency needs clocks that agree, and is as coarse as the transmitter's timestamps,
 * which are whole seconds in most events.
 *
 * @throws TypeError, TransmitterError or a system error when receiving cannot begin.
 */
export async function bench(options: BenchOptions): Promise<BenchReport> {
  const verifier = createSetVerifier({
    issuer: options.issuer,
    audience: options.audience,
    keys: await openKeySource(options),
  })
  const samples = createSamples()
  const tokens: string[] = []
  const enough = new AbortController()
  const signal = AbortSignal.any([options.signal, enough.signal])
  let startedAtMs = performance.now()
  const progress = setInterval(() => {
    options.onProgress?.(samples.events, (performance.now() - startedAtMs) / 1000)
  }, PROGRESS_MS)
  let end: ReturnType<typeof setTimeout> | undefined
  const intake = {
    verifier: toMeasuredVerifier(verifier, samples),
    seen: createMemoryJtiStore({ entriesMax: REMEMBERED_MAX }),
    onEvent(set: VerifiedSet) {
      noteEvent(samples, set)
      if (tokens.length < TOKENS_VERIFIED_ALONE) tokens.push(set.token)
      if (samples.events === options.eventsMax) enough.abort()
    },
  }
  try {
    await receive(options, signal, {
      ...intake,
      onProblem: (problem) => {
        if ('kind' in problem && problem.kind === 'refused') samples.refused += 1
        else samples.failures += 1
        options.diagnostics.write(`${describeProblem(problem)}\n`)
      },
      onReady: (url) => {
        startedAtMs = performance.now()
        end = setTimeout(() => enough.abort(), options.seconds * 1000)
        options.onReady?.(url)
      },
    })
  } finally {
    clearInterval(progress)
    clearTimeout(end)
  }
  const elapsedMs = performance.now() - startedAtMs
  const report = toBenchReport(samples, elapsedMs, await verifyAlone(verifier, tokens))
  options.output.write(
    options.isJson === true ? `${JSON.stringify(report)}\n` : toBenchText(report),
  )
  return report
}

interface BenchIntake {
  readonly verifier: SetVerifier
  readonly seen: ReturnType<typeof createMemoryJtiStore>
  readonly onEvent: (set: VerifiedSet) => void
  readonly onProblem: (problem: TransmitterError | RefusedOutcome) => void
  readonly onReady: (url: string) => void
}

async function receive(
  { source, isHttpAllowed = false }: BenchOptions,
  signal: AbortSignal,
  { onProblem, onReady, ...intake }: BenchIntake,
): Promise<void> {
  if (source.method === 'push') {
    const { authorization } = source
    const handler = createPushHandler({ ...intake, authorization, onRefused: onProblem })
    await servePush(handler, { ...source, signal, onReady })
    return
  }
  const { url, ...polling } = source
  const settings = { ...intake, ...polling, endpointUrl: url, isHttpAllowed }
  const client = createPollClient({ ...settings, idlePauseMs: 200, onError: onProblem })
  onReady(url)
  await client.start(signal)
}

function createSamples(): BenchSamples {
  return {
    events: 0,
    verifications: 0,
    refused: 0,
    failures: 0,
    firstAtMs: 0,
    lastAtMs: 0,
    sinceIssueMs: [],
    sinceEventMs: [],
    verifyMs: [],
  }
}

function toMeasuredVerifier(verifier: SetVerifier, samples: BenchSamples): SetVerifier {
  return {
    async verify(token) {
      const startedAtMs = performance.now()
      const set = await verifier.verify(token)
      samples.verifications += 1
      keep(samples.verifyMs, performance.now() - startedAtMs)
      return set
    },
  }
}

function noteEvent(samples: BenchSamples, set: VerifiedSet): void {
  const nowMs = Date.now()
  const happenedAtMs = eventTimestampMs(set)
  samples.events += 1
  samples.lastAtMs = performance.now()
  if (samples.events === 1) samples.firstAtMs = samples.lastAtMs
  keep(samples.sinceIssueMs, nowMs - set.iat * 1000)
  if (happenedAtMs !== undefined) keep(samples.sinceEventMs, nowMs - happenedAtMs)
}

function keep(values: number[], value: number): void {
  if (values.length < SAMPLES_MAX) values.push(value)
}

/** The cost of one verification without anything beside it, in milliseconds. */
async function verifyAlone(
  verifier: SetVerifier,
  tokens: readonly string[],
): Promise<number | undefined> {
  if (tokens.length === 0) return undefined
  const startedAtMs = performance.now()
  for (const token of tokens) await verifier.verify(token)
  return (performance.now() - startedAtMs) / tokens.length
}
