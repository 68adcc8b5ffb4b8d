/*
 * From the commit of an event to the moment at which a receiver that waits in a long poll has its answer,
 * with thousands of them waiting on real connections. The events are committed by another process than
 * the one that is polled, as in a deployment of several, and for one stream at a time.
 */
import { VERIFICATION } from '@heliograph/ssf'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { insertDeliveries } from '../src/signals/dispatch/delivery-store.ts'
import { newUuid, randomInteger } from '../src/platform/ids.ts'
import { findFreePort } from '../src/platform/net/find-free-port.ts'
import { parseAllowedTargets } from '../src/platform/net/target-policy.ts'
import type { ServiceFoundation } from '../src/app/foundation.ts'
import { issuePollToken } from '../src/signals/poll/rotate-poll-token.ts'
import { toVerificationClaims } from '../src/signals/sets/set-claims.ts'
import { createStream } from '../src/signals/streams/create-stream.ts'
import type { Stream } from '../src/signals/streams/stream-store.ts'
import { startChildProgram, type ChildProgram } from './child-program.ts'
import { appendServerSettings, COMMIT_TIMESTAMPS_SETTING } from './server-settings.ts'
import { toLatencyMeasurements } from './latency-measurements.ts'
import type { LongPollAnswer, LongPollCommand, PollArrival } from './long-poll-program.ts'
import { createCommitTable, listCommits, noteCommit } from './long-poll-store.ts'
import { roleOf } from '../src/platform/db/connection.ts'
import { asOwner } from './owner-database.ts'
import { runOpenLoop } from './open-loop.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { startServiceUnderTest, type ServiceUnderTest } from './service-under-test.ts'
import { summariseLatencies } from './statistics.ts'

const STREAMS_COUNT = 1_000
const RECEIVERS_PER_STREAM = 5
const WAITING_COUNT = STREAMS_COUNT * RECEIVERS_PER_STREAM
const COMMITS_PER_SECOND = 20
const WARM_UP_SECONDS = 2
const SETTLE_MS = 1_000
const SETTLED_SHARE = 0.97
const SETTLE_TIMEOUT_MS = 120_000
/** Longer than any answer takes that comes by a wake-up, shorter than the end of a long poll. */
const ARRIVAL_MS = 5_000

export const longPoll: Scenario = {
  title: `Event committed, to answer of a long poll, ${WAITING_COUNT} waiting, ${COMMITS_PER_SECOND} events/s`,
  run: measure,
}

type Receivers = ChildProgram<LongPollCommand, LongPollAnswer>
type Report = Extract<LongPollAnswer, { type: 'report' }>

interface PolledStream {
  readonly stream: Stream
  readonly token: string
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  run.progress(`starting the service with ${STREAMS_COUNT} streams`)
  const started = await startService(run)
  const { service, streams } = started
  const memoryBefore = await readMemoryKib(service.pid)
  run.progress(`opening ${WAITING_COUNT} long polls`)
  const receivers: Receivers = startChildProgram(run, 'long-poll-program')
  const ready = receivers.next('ready')
  receivers.send({
    type: 'poll',
    port: service.port,
    streams: streams.map(({ stream, token }) => ({
      path: `/ssf_streams/${stream.streamId}/events`,
      token,
    })),
    receiversPerStream: RECEIVERS_PER_STREAM,
  })
  await ready
  await settle(run, receivers, started)
  const memoryAfter = await readMemoryKib(service.pid)
  run.progress('warming up')
  await commitEvents(run, service, streams, WARM_UP_SECONDS)
  await sleep(SETTLE_MS)
  await report(receivers)
  run.progress(`measuring for ${run.seconds} s`)
  const eventIds = await commitEvents(run, service, streams, run.seconds)
  await sleep(ARRIVAL_MS)
  const waiting = await readWaiting(started.metricsUrl)
  const { arrivals, failures, firstFailure } = await report(receivers)
  if (failures > 0) throw new Error(`${failures} polls failed, the first by: ${firstFailure ?? ''}`)
  const commits = await listCommits(service.services.db)
  return toMeasurements(eventIds, commits, arrivals, {
    waiting,
    memory_per_waiting_poll_kib: (memoryAfter - memoryBefore) / WAITING_COUNT,
  })
}

interface StartedService {
  readonly service: ServiceUnderTest
  readonly streams: readonly PolledStream[]
  readonly metricsUrl: string
}

async function startService(run: BenchRun): Promise<StartedService> {
  const streams: PolledStream[] = []
  const adminPort = await findFreePort('127.0.0.1')
  const service = await startServiceUnderTest(run, {
    environment: {
      HELIOGRAPH_ADMIN_PORT: String(adminPort),
      HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '1000000',
      HELIOGRAPH_STREAMS_MAX: String(STREAMS_COUNT),
    },
    prepare: async (services) => {
      await asOwner(services, (db) => createCommitTable(db, roleOf(services.connection)))
      for (let index = 0; index < STREAMS_COUNT; index += 1) {
        run.signal.throwIfAborted()
        streams.push(await createPolledStream(services, `Benchmark ${index}`))
      }
    },
    prepareFolder: (dataDir) => appendServerSettings(dataDir, [COMMIT_TIMESTAMPS_SETTING]),
  })
  return { service, streams, metricsUrl: `http://127.0.0.1:${adminPort}/metrics` }
}

async function createPolledStream(
  services: ServiceFoundation,
  name: string,
): Promise<PolledStream> {
  const { config, runChange, sealer } = services
  const targets = parseAllowedTargets('')
  if (!targets.ok) throw new Error(targets.reason)
  return runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    const stream = await createStream(
      change,
      { name, deliveryMethod: 'poll', endpointPath: 'delivery.endpoint_url' },
      {
        baseUrl: config.baseUrl,
        sealer,
        targetPolicy: targets.policy,
        streamsMax: STREAMS_COUNT,
      },
    )
    const how = { mode: 'creation', previousValidUntil: null } as const
    return { stream, token: await issuePollToken(change, stream, how) }
  })
}

/** Waits until the service says that nearly all wait: some are always on their way back. */
async function settle(
  { signal }: BenchRun,
  receivers: Receivers,
  { metricsUrl }: StartedService,
): Promise<void> {
  const endMs = performance.now() + SETTLE_TIMEOUT_MS
  for (;;) {
    signal.throwIfAborted()
    await sleep(SETTLE_MS)
    const { failures, firstFailure } = await report(receivers)
    if (failures > 0) throw new Error(`a poll failed: ${firstFailure ?? ''}`)
    const waiting = await readWaiting(metricsUrl)
    if (waiting >= WAITING_COUNT * SETTLED_SHARE) return
    if (performance.now() > endMs) throw new Error(`only ${waiting} polls wait`)
  }
}

async function readWaiting(metricsUrl: string): Promise<number> {
  const { body } = await request(metricsUrl)
  return Number(/^heliograph_long_polls_waiting (\d+)$/m.exec(await body.text())?.[1] ?? 0)
}

async function report(receivers: Receivers): Promise<Report> {
  const told = receivers.next('report')
  receivers.send({ type: 'report' })
  return told
}

/** Commits events for streams by chance, from this process, and answers their ids. */
async function commitEvents(
  { signal }: BenchRun,
  { services }: ServiceUnderTest,
  streams: readonly PolledStream[],
  seconds: number,
): Promise<ReadonlySet<string>> {
  const eventIds = new Set<string>()
  const result = await runOpenLoop({
    ratePerSecond: COMMITS_PER_SECOND,
    seconds,
    signal,
    send: async () => {
      const polled = streams[randomInteger(0, streams.length)]
      if (polled !== undefined) eventIds.add(await commitEvent(services, polled.stream))
    },
  })
  if (result.failures === 0) return eventIds
  throw new Error(`${result.failures} events were not committed`, { cause: result.firstFailure })
}

async function commitEvent({ runChange }: ServiceFoundation, stream: Stream): Promise<string> {
  const eventId = newUuid()
  await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    const body = toVerificationClaims(stream, eventId, change, {})
    const { destinationId } = stream
    await insertDeliveries(change, [
      { destinationId, eventId, eventType: VERIFICATION, subjectKey: null, body },
    ])
    await noteCommit(change.tx, eventId)
  })
  return eventId
}

/** The memory that a process occupies; 0 where the system does not tell. */
async function readMemoryKib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0)
}

function toMeasurements(
  eventIds: ReadonlySet<string>,
  commits: ReadonlyMap<string, number>,
  arrivals: readonly PollArrival[],
  numbers: Readonly<Record<string, number>>,
): Measurement[] {
  const measured = arrivals.filter(({ eventId }) => eventIds.has(eventId))
  const arrived = new Set(measured.map(({ eventId }) => eventId))
  if (arrived.size === 0) throw new Error('no event reached a receiver')
  const latency = summariseLatencies(
    measured.map(({ eventId, atMs }) => atMs - (commits.get(eventId) ?? NaN)),
  )
  const details = {
    events: eventIds.size,
    events_without_answer: eventIds.size - arrived.size,
    answers: latency.count,
    max_ms: latency.max,
    ...numbers,
  }
  return toLatencyMeasurements('commit to answer', latency, details)
}
