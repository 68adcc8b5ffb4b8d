/*
 * Thousands of devices whose request for work is held: the memory of each, the CPU time of the service while nothing
 * happens, and how soon a question reaches a device that is held. The questions are asked by another process than the
 * one that holds, as in a deployment of several.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { readFileHandleLimit } from '../src/app/file-handles.ts'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { findFreePort } from '../src/platform/net/find-free-port.ts'
import { newUuid, randomInteger } from '../src/platform/ids.ts'
import { QUESTION_PREFIX } from '../src/posture/device-questions/device-question.ts'
import { insertQuestions } from '../src/posture/device-questions/question-store.ts'
import { READ_PATH } from './bench-agents.ts'
import { startChildProgram, type ChildProgram } from './child-program.ts'
import { heldNodeKey, insertHeldFleet } from './held-fleet-store.ts'
import type { HeldAnswer, HeldCommand, QuestionArrival } from './held-program.ts'
import { toLatencyMeasurements } from './latency-measurements.ts'
import { runOpenLoop } from './open-loop.ts'
import { readMemoryKib, readProcessCpuMs } from './process-cpu.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { startServiceUnderTest, type ServiceUnderTest } from './service-under-test.ts'
import { summariseLatencies } from './statistics.ts'

const DEVICES_COUNT = 20_000
/** The database, the files of the program, and what else takes a handle beside the devices. */
const OTHER_HANDLES = 1_000
/** Each has connections of its own, and systems bound those of a process. */
const PROGRAMS = 2
const HOLD_SECONDS = 10
const PAUSE_MS = 5_000
const HELD_SHARE = 0.55
const SETTLE_TIMEOUT_MS = 180_000
const SETTLE_MS = 1_000
const QUESTIONS_PER_SECOND = 20
/** A device that pauses is not held: what reaches it later than this was waited for. */
const QUESTION_LIFETIME_MS = 2_000

export const held: Scenario = {
  title: `${DEVICES_COUNT} devices held in one process, ${QUESTIONS_PER_SECOND} questions/s`,
  run: measure,
}

type Devices = ChildProgram<HeldCommand, HeldAnswer>

async function measure(run: BenchRun): Promise<Measurement[]> {
  const handles = readFileHandleLimit() ?? DEVICES_COUNT + OTHER_HANDLES
  const count = Math.floor(Math.min(DEVICES_COUNT * run.scale, handles - OTHER_HANDLES))
  run.progress(`starting the service with ${count} devices`)
  const adminPort = await findFreePort('127.0.0.1')
  const service = await startServiceUnderTest(run, {
    environment: {
      HELIOGRAPH_ADMIN_PORT: String(adminPort),
      HELIOGRAPH_CHECK_IN_HOLD_SECONDS: String(HOLD_SECONDS),
      HELIOGRAPH_CHECK_INTERVAL_SECONDS: '604800',
    },
    prepare: ({ db }) => insertHeldFleet(db, count),
  })
  const metricsUrl = `http://127.0.0.1:${adminPort}/metrics`
  const memoryBefore = await readMemoryKib(service.pid)
  run.progress(`holding ${count} devices`)
  const programs = await holdAll(run, service, count)
  await settle(run, metricsUrl, count)
  run.progress('counting what they cost while nothing happens')
  const idle = await measureIdle(run, service)
  const heldCount = await readHeld(metricsUrl)
  const memoryAfter = await readMemoryKib(service.pid)
  // Of connections that were opened faster than the machine took them, too; agents try again.
  const { failures } = await report(programs)
  run.progress(`asking questions for ${run.seconds} s`)
  const asked = await askQuestions(run, service, count)
  await sleep(QUESTION_LIFETIME_MS)
  const { arrivals, failures: laterFailures, firstFailure } = await report(programs)
  if (laterFailures > 0) throw new Error(`${laterFailures} requests failed: ${firstFailure ?? ''}`)
  return toMeasurements(asked, arrivals, {
    devices: count,
    failures_while_connecting: failures,
    held: heldCount,
    memory_per_device_kib: (memoryAfter - memoryBefore) / count,
    idle_cpu_percent_of_a_core: idle * 100,
    check_ins_per_second: count / (HOLD_SECONDS + PAUSE_MS / 1000),
  })
}

async function holdAll(
  run: BenchRun,
  { port }: ServiceUnderTest,
  count: number,
): Promise<Devices[]> {
  const keys = Array.from({ length: count }, (_, index) => heldNodeKey(index + 1))
  const programs = Array.from({ length: PROGRAMS }, (): Devices =>
    startChildProgram(run, 'held-program'),
  )
  await Promise.all(
    programs.map(async (program, index) => {
      const ready = program.next('ready')
      const nodeKeys = keys.filter((_, key) => key % PROGRAMS === index)
      program.send({ type: 'hold', port, path: READ_PATH, nodeKeys, pauseMs: PAUSE_MS })
      await ready
    }),
  )
  return programs
}

/** Waits until as many are held as always are: the others pause. */
async function settle({ signal }: BenchRun, metricsUrl: string, count: number): Promise<void> {
  const endMs = performance.now() + SETTLE_TIMEOUT_MS
  for (;;) {
    signal.throwIfAborted()
    await sleep(SETTLE_MS)
    const heldCount = await readHeld(metricsUrl)
    if (heldCount >= count * HELD_SHARE) break
    if (performance.now() > endMs) throw new Error(`only ${heldCount} devices are held`)
  }
  // Every device has been looked up by now, and comes back for what is in memory.
  await sleep(HOLD_SECONDS * 1000 + PAUSE_MS)
}

/** The share of a core that the service uses. */
async function measureIdle({ seconds }: BenchRun, { pid }: ServiceUnderTest): Promise<number> {
  const [beforeMs, startMs] = [await readProcessCpuMs(pid), performance.now()]
  await sleep(seconds * 1000)
  const [afterMs, endMs] = [await readProcessCpuMs(pid), performance.now()]
  if (beforeMs === undefined || afterMs === undefined) return NaN
  return (afterMs - beforeMs) / (endMs - startMs)
}

/** Asks devices by chance, from this process; answers when each question was put. */
async function askQuestions(
  { signal, seconds }: BenchRun,
  { services }: ServiceUnderTest,
  count: number,
): Promise<ReadonlyMap<string, number>> {
  const asked = new Map<string, number>()
  const result = await runOpenLoop({
    ratePerSecond: QUESTIONS_PER_SECOND,
    seconds,
    signal,
    send: async () => {
      const id = newUuid()
      const deviceId = String(randomInteger(1, count + 1))
      asked.set(QUESTION_PREFIX + id, performance.timeOrigin + performance.now())
      const askedAt = services.clock.now()
      const expiresAt = new Date(askedAt.getTime() + QUESTION_LIFETIME_MS)
      const question = { id, deviceId, sql: 'select 1', purpose: 'sign_in_proof' } as const
      await services.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
        insertQuestions(change, [question], { askedAt, expiresAt }),
      )
    },
  })
  if (result.failures === 0) return asked
  throw new Error(`${result.failures} questions were not put`, { cause: result.firstFailure })
}

interface Report {
  readonly arrivals: readonly QuestionArrival[]
  readonly failures: number
  readonly firstFailure: string | undefined
}

/** What all devices noted since the last time. */
async function report(programs: readonly Devices[]): Promise<Report> {
  const reports = await Promise.all(
    programs.map((program) => {
      const told = program.next('report')
      program.send({ type: 'report' })
      return told
    }),
  )
  return {
    arrivals: reports.flatMap(({ arrivals }) => arrivals),
    failures: reports.reduce((sum, { failures }) => sum + failures, 0),
    firstFailure:
      reports.find(({ firstFailure }) => firstFailure !== null)?.firstFailure ?? undefined,
  }
}

async function readHeld(metricsUrl: string): Promise<number> {
  const { body } = await request(metricsUrl)
  return Number(/^heliograph_check_ins_held (\d+)$/m.exec(await body.text())?.[1] ?? 0)
}

/** The memory that a process occupies; 0 where the system does not tell. */
function toMeasurements(
  asked: ReadonlyMap<string, number>,
  arrivals: readonly QuestionArrival[],
  numbers: Readonly<Record<string, number>>,
): Measurement[] {
  // A device that paused when it was asked learns of it when it comes back, which is its own time and not ours.
  const toHeld = arrivals.flatMap(({ queryId, waitsSinceMs, atMs }) => {
    const askedAtMs = asked.get(queryId)
    return askedAtMs === undefined || waitsSinceMs > askedAtMs ? [] : [atMs - askedAtMs]
  })
  if (toHeld.length === 0) throw new Error('no question reached a device')
  return toLatencyMeasurements('question to held device', summariseLatencies(toHeld), {
    questions: asked.size,
    questions_to_held_devices: toHeld.length,
    ...numbers,
  })
}
