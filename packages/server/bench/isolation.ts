/*
 * What one bad receiver costs the others: a hundred push streams, or webhooks, events at fixed times to
 * one after another, and the time from a commit to the arrival at the 99 whose receiver answers. Phases
 * in turn: all answer, one never answers, all answer, one answers after five seconds. The first one
 * begins with a backlog, so that a bad receiver always has more waiting than it takes.
 *
 * The two phases in which all answer tell how much the measurement itself moves.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { startChildProgram, type ChildProgram } from './child-program.ts'
import { runOpenLoop } from './open-loop.ts'
import { PUSH_STREAMS, WEBHOOKS, type ReceiverKind } from './isolation-kinds.ts'
import { hasQueuedForOthers } from './outbox-store.ts'
import type { Arrival, ReceiverAnswer, ReceiverCommand } from './receiver-program.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { startSenderServices, type SenderServices } from './sender-services.ts'
import { median, summariseLatencies, type LatencySummary } from './statistics.ts'
import type { DestinationId } from '../src/schema/branded-ids.ts'

const RECEIVERS = 100
const EVENTS_PER_SECOND = 200
const ROUNDS = 3
const WARM_UP_SECONDS = 2
/** What waits for the first one before the load begins: more than an engine claims. */
const BACKLOG_EVENTS = 2_000
/** Enough to deliver the backlog where it can be delivered. */
const BACKLOG_MS = 1_500
/** So that a phase sees the time-outs of a silent receiver, and the pauses after them. */
const SILENT_TIMEOUT_MS = 2_000
const DRAIN_TIMEOUT_MS = 30_000
const POLL_MS = 20
const CHANGE_MAX = 0.1
/** A hundredth of the events is as many as a single stall of the disk delays: the median tells more. */
const QUANTILES = ['p50', 'p99'] as const

type Quantile = (typeof QUANTILES)[number]

/** What one bad receiver costs the other push streams. */
export const isolation: Scenario = toScenario(PUSH_STREAMS)

/** What one bad receiver costs the other webhooks. */
export const webhookIsolation: Scenario = toScenario(WEBHOOKS)

function toScenario(kind: ReceiverKind): Scenario {
  return {
    title: `One bad receiver among ${RECEIVERS} ${kind.name}, ${EVENTS_PER_SECOND} events/s: commit to arrival at the others`,
    run: (run) => measure(run, kind),
  }
}

type Manner = 'answering' | 'silent' | 'slow'
type Receiver = ChildProgram<ReceiverCommand, ReceiverAnswer>

interface Bench {
  readonly run: BenchRun
  readonly kind: ReceiverKind
  readonly sender: SenderServices
  /** The receiver of the 99, and the one whose arrivals are noted. */
  readonly good: Receiver
  readonly urls: Readonly<Record<Manner, string>>
}

interface Phase extends LatencySummary {
  /** CPU time of this process per event, the load's own part included. */
  readonly cpuMicroseconds: number
}

/** The four phases of a round. */
interface Round {
  readonly before: Phase
  readonly silent: Phase
  readonly between: Phase
  readonly slow: Phase
}

async function measure(run: BenchRun, kind: ReceiverKind): Promise<Measurement[]> {
  const bench = await prepare(run, kind)
  run.progress('warming up')
  await measurePhase(bench, 'answering', WARM_UP_SECONDS)
  const rounds: Round[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    const phase = (manner: Manner) => {
      run.progress(`round ${round} of ${ROUNDS}: one receiver is ${manner}`)
      return measurePhase(bench, manner, run.seconds)
    }
    rounds.push({
      before: await phase('answering'),
      silent: await phase('silent'),
      between: await phase('answering'),
      slow: await phase('slow'),
    })
  }
  return QUANTILES.flatMap((quantile) => [
    toMeasurement('one never answers', quantile, rounds, ({ silent }) => silent),
    toMeasurement('one answers after 5 s', quantile, rounds, ({ slow }) => slow),
  ])
}

async function prepare(run: BenchRun, kind: ReceiverKind): Promise<Bench> {
  run.progress('starting database and receivers')
  const start = async (manner: string): Promise<{ receiver: Receiver; url: string }> => {
    const receiver: Receiver = startChildProgram(run, 'receiver-program', [manner])
    const { port } = await receiver.next('listening')
    return { receiver, url: `http://127.0.0.1:${port}/events` }
  }
  const [sender, good, silent, slow] = await Promise.all([
    startSenderServices(run),
    start('timestamps'),
    start('silent'),
    start('slow'),
  ])
  const urls = { answering: good.url, silent: silent.url, slow: slow.url }
  return { run, kind, sender, good: good.receiver, urls }
}

/** The latencies of the 99 while the receiver of the first one has the given manner. */
async function measurePhase(bench: Bench, manner: Manner, seconds: number): Promise<Phase> {
  const { run, kind, sender, good } = bench
  const badId = await insertBadReceiver(bench, manner)
  const destinationIds = [badId, ...(await insertGoodReceivers(bench))]
  const engine = sender.createEngine(
    manner === 'silent' ? { requestTimeoutMs: SILENT_TIMEOUT_MS } : {},
  )
  try {
    await engine.start()
    await sleep(BACKLOG_MS, undefined, { signal: run.signal })
    const cpuBefore = process.cpuUsage()
    const committed = await load(bench, destinationIds, seconds)
    await drain(bench, badId)
    const { user, system } = process.cpuUsage(cpuBefore)
    good.send({ type: 'report' })
    const { arrivals } = await good.next('report')
    const cpuMicroseconds = (user + system) / (EVENTS_PER_SECOND * seconds)
    return { ...summariseArrivals(committed, arrivals), cpuMicroseconds }
  } finally {
    await engine.close()
    await kind.deleteAll(sender)
  }
}

async function insertBadReceiver({ kind, sender, urls }: Bench, manner: Manner) {
  const id = await kind.insert(sender, urls[manner])
  await kind.insertBacklog(sender, id, BACKLOG_EVENTS)
  return id
}

async function insertGoodReceivers({ kind, sender, urls }: Bench): Promise<DestinationId[]> {
  const ids: DestinationId[] = []
  while (ids.length < RECEIVERS - 1) ids.push(await kind.insert(sender, urls.answering))
  return ids
}

/** Queues events for the receivers in turn; answers when those of the 99 were committed, by `txn`. */
async function load(
  { run, kind, sender }: Bench,
  destinationIds: readonly DestinationId[],
  seconds: number,
): Promise<ReadonlyMap<string, number>> {
  const committedAtMs = new Map<string, number>()
  const result = await runOpenLoop({
    ratePerSecond: EVENTS_PER_SECOND,
    seconds,
    signal: run.signal,
    send: (index) =>
      sender.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
        const place = index % destinationIds.length
        if (place > 0) {
          // The first effect, so that it runs as soon as the answer to the commit is read.
          change.afterCommit(() => {
            committedAtMs.set(change.txn, performance.timeOrigin + performance.now())
          })
        }
        const destinationId = destinationIds[place]
        if (destinationId !== undefined) await kind.queue(change, { destinationId, index })
      }),
  })
  if (result.failures > 0) {
    throw new Error(`${result.failures} events were not queued`, { cause: result.firstFailure })
  }
  return committedAtMs
}

async function drain({ run, sender }: Bench, badId: DestinationId): Promise<void> {
  const endMs = performance.now() + DRAIN_TIMEOUT_MS
  while (await hasQueuedForOthers(sender.db, badId)) {
    run.signal.throwIfAborted()
    if (performance.now() > endMs) throw new Error('the events were not delivered in time')
    await sleep(POLL_MS)
  }
}

function summariseArrivals(
  committedAtMs: ReadonlyMap<string, number>,
  arrivals: readonly Arrival[],
): LatencySummary {
  const measured = arrivals.filter(({ txn }) => committedAtMs.has(txn))
  if (measured.length !== committedAtMs.size) {
    throw new Error(`${committedAtMs.size} events were queued, ${measured.length} arrived`)
  }
  return summariseLatencies(measured.map(({ txn, atMs }) => atMs - (committedAtMs.get(txn) ?? 0)))
}

/** A phase is compared with the two around it in which all answer, so that both see the same machine. */
function toMeasurement(
  what: string,
  quantile: Quantile,
  rounds: readonly Round[],
  pick: (round: Round) => Phase,
): Measurement {
  const quiet = rounds.map(({ before, between }) => (before[quantile] + between[quantile]) / 2)
  const ratio = median(rounds.map((round, index) => pick(round)[quantile] / (quiet[index] ?? NaN)))
  const noise = median(
    rounds.map(({ before, between }) => Math.abs(between[quantile] / before[quantile] - 1)),
  )
  const all = rounds.map((round) => pick(round)[quantile])
  const allQuiet = rounds.flatMap(({ before, between }) => [before[quantile], between[quantile]])
  return {
    what: `${quantile} of the others, ${what}`,
    target: 'within 10 % of all answering',
    measured: { value: median(all), unit: 'ms' },
    limit: { what: 'all answer', value: median(quiet), unit: 'ms' },
    ratio,
    isReached: ratio < 1 + CHANGE_MAX,
    details: {
      change_percent: (ratio - 1) * 100,
      noise_percent: noise * 100,
      rounds: rounds.length,
      events_per_phase: median(rounds.map((round) => pick(round).count)),
      lowest_ms: Math.min(...all),
      highest_ms: Math.max(...all),
      lowest_all_answer_ms: Math.min(...allQuiet),
      highest_all_answer_ms: Math.max(...allQuiet),
      process_cpu_us_per_event: median(rounds.map((round) => pick(round).cpuMicroseconds)),
      process_cpu_us_per_event_all_answer: median(
        rounds.flatMap(({ before, between }) => [before.cpuMicroseconds, between.cpuMicroseconds]),
      ),
    },
  }
}
