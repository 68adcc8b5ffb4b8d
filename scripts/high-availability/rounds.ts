/*
 * One fault after another while devices report at fixed times. After each, when everything is well again, the devices
 * pause, and it is proven that everything which was acknowledged so far is there.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from './child-processes.ts'
import { FAULTS, LOSING_FAULTS, type Fault, type Installation } from './faults.ts'
import { countUsedCores } from './machine-use.ts'
import { pauseOtherChecks, prepareOrganisation } from './prepare-organisation.ts'
import { proveAllButLost } from './lossy-proof.ts'
import { listStatusChanges, prove, type Proof, type StatusChange } from './proof.ts'
import { startPolling, startPushReceiver, type Inbox } from './receivers.ts'
import { ReportingDevices } from './reporting-devices.ts'
import { quantiles, summarise, type LoadTimes, type Round } from './summary.ts'
import { WriteProbe } from './write-probe.ts'

const WELL_MAX_MS = 300_000
const DRAIN_MAX_MS = 180_000
/** How long everything must have been served before the next fault. */
const CALM_MS = 1_500
/** Until devices that have paused report as they did before. */
const RESUMED_MS = 1_000
/** How long it is measured what the load takes. */
const MEASURED_MS = 3_000
/** The audit chain is verified from its beginning: not after each round. */
const AUDIT_ROUNDS = 10

export interface RunOptions {
  readonly rounds: number
  readonly minutes: number
  readonly devices: number
  /** Of all devices together. */
  readonly changesPerSecond: number
  /** Whether commits wait for a standby. Where they do not, the last ones before a takeover may be lost. */
  readonly isSynchronous: boolean
  /** Ends it after a round. */
  readonly signal: AbortSignal
  readonly say: (text: string) => void
  /** Given what was done so far after each round, so that a run which is cut off leaves it. */
  readonly report: (summary: object) => Promise<void>
}

interface RunContext {
  readonly installation: Installation
  readonly devices: ReportingDevices
  readonly probe: WriteProbe
  readonly inboxes: Readonly<Record<string, Inbox>>
  readonly options: RunOptions
}

/** Answers whether everything was as it must be. */
export async function runRounds(installation: Installation, options: RunOptions): Promise<boolean> {
  const { services } = installation
  const { baseUrl } = services
  const push = await startPushReceiver()
  const prepared = await prepareOrganisation(services, push.url)
  const { key, checkId, groupUrls, enrollmentSecret, pushStream, pollStream } = prepared
  push.begin(pushStream, baseUrl)
  const stopPolling = new AbortController()
  const poll = startPolling(pollStream, baseUrl, key, stopPolling.signal)
  const { changesPerSecond, devices: count } = options
  const devices = new ReportingDevices({
    ...{ baseUrl, count, changesPerSecond, enrollmentSecret, checkId },
  })
  const probe = new WriteProbe(groupUrls, key)
  const inboxes = { push: push.inbox, poll: poll.inbox }
  try {
    await pauseOtherChecks(baseUrl, { checkId, key })
    await devices.enroll()
    return await runAll({ installation, devices, probe, inboxes, options })
  } finally {
    probe.stop()
    devices.close()
    stopPolling.abort()
    await poll.ended
    push.close()
  }
}

async function runAll(context: RunContext): Promise<boolean> {
  const { devices, options } = context
  const { say } = options
  const faults = options.isSynchronous ? FAULTS : LOSING_FAULTS
  const rounds: Round[] = []
  const problems: string[] = []
  const beganMs = performance.now()
  const endMs = beganMs + options.minutes * 60_000
  let loadedMs = 0
  const isOver = () => options.signal.aborted || performance.now() > endMs || problems.length > 0
  for (let number = 1; number <= options.rounds && !isOver(); number += 1) {
    const fault = faults[(number - 1) % faults.length]
    if (fault === undefined) break
    const loadedSinceMs = performance.now()
    devices.start()
    try {
      if (number === 1) await waitUntilWell(context)
      rounds.push(await runRound(context, fault))
    } catch (error) {
      // What was lost by it shows in the proof.
      problems.push(String(error))
    }
    loadedMs += performance.now() - loadedSinceMs
    const isAudited = number % AUDIT_ROUNDS === 0 || number === options.rounds || isOver()
    const proof = await proveNow(context, isAudited)
    problems.push(...proof.problems)
    const round = rounds.at(-1)
    if (round !== undefined) say(`${number}. ${toLine(round, proof)}`)
    await options.report({
      ...summarise(rounds),
      seconds: Math.round((performance.now() - beganMs) / 1_000),
      seconds_under_load: Math.round(loadedMs / 1_000),
      devices: options.devices,
      acknowledged_per_second: toTenths(proof.acknowledgedAnswers / (loadedMs / 1_000)),
      proof: { ...proof, problems },
    })
  }
  say(problems.length === 0 ? 'Nothing was lost.' : problems.join('\n'))
  return problems.length === 0
}

async function runRound(context: RunContext, fault: Fault): Promise<Round> {
  const { devices, installation, probe } = context
  const before = await measureLoad(context)
  let beganMs = performance.now()
  let answersMs = 0
  const watch = async () => {
    await waitUntil(
      () => devices.haveAllAnsweredSince(beganMs),
      WELL_MAX_MS,
      `answers after: ${fault.name}`,
    )
    answersMs = Math.round(performance.now() - beganMs)
  }
  let watching: Promise<void> | undefined
  await fault.inflict(installation, () => {
    beganMs = performance.now()
    devices.takeTimes()
    watching = watch()
  })
  await watching
  await waitUntilWell(context)
  const { silenceMsMax, lostWorkCount } = devices.takeTimes()
  const silenceMs = Math.round(silenceMsMax)
  const felt = { ...probe.findOutage(beganMs), answersMs, silenceMs, lostWorkCount }
  return { fault: fault.name, ...felt, before }
}

/** What the load takes while everything is well. */
async function measureLoad({ devices, installation }: RunContext): Promise<LoadTimes> {
  await sleep(RESUMED_MS)
  devices.takeTimes()
  const beganMs = performance.now()
  const stopCounting = countUsedCores(installation)
  await sleep(MEASURED_MS)
  const cores = stopCounting()
  const { acknowledgedCount, latenciesMs } = devices.takeTimes()
  const seconds = (performance.now() - beganMs) / 1_000
  const { p50, p95, max } = quantiles(latenciesMs)
  return {
    acknowledgedPerSecond: toTenths(acknowledgedCount / seconds),
    latencyMs: { p50: Math.round(p50), p95: Math.round(p95), max: Math.round(max) },
    cores,
  }
}

/** Has the devices pause, waits until what they caused has been told, and compares. */
async function proveNow(
  { devices, inboxes, installation: { services }, options }: RunContext,
  isAudited: boolean,
): Promise<Proof> {
  const problems: string[] = []
  const note = (error: unknown) => void problems.push(String(error))
  await devices.pause().catch(note)
  const changes = await readChanges(services).catch((error: unknown) => {
    note(error)
    return [] as StatusChange[]
  })
  const all = Object.values(inboxes)
  const evidence = { changes, devices: devices.devices, inboxes }
  const waitingFor = new Map(all.map((inbox) => [inbox, changes]))
  const hasAll = (inbox: Inbox) => {
    const missing = waitingFor.get(inbox)?.filter(({ txn }) => !inbox.hasTxn(txn)) ?? []
    waitingFor.set(inbox, missing)
    return missing.length === 0 && inbox.findGaps().length === 0
  }
  const isTold = () =>
    options.isSynchronous ? all.every(hasAll) : proveAllButLost(evidence).problems.length === 0
  // What has not come by then shows in the proof.
  await waitUntil(isTold, DRAIN_MAX_MS, 'the last events').catch((error: unknown) =>
    options.say(String(error)),
  )
  const proof = options.isSynchronous ? prove(evidence) : proveAllButLost(evidence)
  if (isAudited) {
    const [first] = services.processes
    const audit = (await first.command('audit', 'verify').catch(note)) as
      { readonly is_whole: boolean; readonly entry_count: number } | undefined
    if (audit?.is_whole !== true) problems.push('the audit chain is broken')
    else options.say(`The audit chain of ${audit.entry_count} entries is whole.`)
  }
  return { ...proof, problems: [...problems, ...proof.problems] }
}

/** Everything is there, and was for a moment: only one thing fails at a time. */
async function waitUntilWell({ installation, options, probe }: RunContext): Promise<void> {
  const { etcd, patroni, services } = installation
  let waitingFor = ''
  const conditions = {
    etcd: () => etcd.isWell(),
    Patroni: () => patroni.isWell(),
    'the processes': () => services.areReady(),
    'the noted standby': async () => (await isNotedSynchronous(services)) === options.isSynchronous,
    requests: async () => probe.isServedFor(CALM_MS),
  }
  const areAllWell = async () => {
    for (const [name, isWell] of Object.entries(conditions)) {
      waitingFor = name
      if (!(await isWell())) return false
    }
    return true
  }
  await waitUntil(areAllWell, WELL_MAX_MS, 'everything to be well').catch((error: unknown) => {
    throw new Error(`waited in vain for ${waitingFor} to be well`, { cause: error })
  })
}

/** Whether the service knows that commits wait for a standby: a takeover is not complete otherwise. */
async function isNotedSynchronous(
  services: Installation['services'],
): Promise<boolean | undefined> {
  try {
    const client = await services.connect()
    try {
      const { rows } = await client.query<{ is_synchronous: boolean }>(
        'select is_synchronous from database_origin',
      )
      return rows[0]?.is_synchronous
    } finally {
      await client.end()
    }
  } catch {
    await sleep(200)
    return undefined
  }
}

async function readChanges(services: Installation['services']): Promise<StatusChange[]> {
  const database = await services.connect()
  try {
    return await listStatusChanges(database)
  } finally {
    await database.end()
  }
}

function toLine(round: Round, proof: Proof): string {
  const { acknowledgedAnswers, lostAnswers, problems, statusChanges } = proof
  const { answersMs, before, fault, laterMs, outageMs, silenceMs } = round
  return [
    `${fault}: requests served again after ${outageMs} ms`,
    `answers of every device after ${answersMs} ms`,
    `none of any for ${silenceMs} ms`,
    ...(laterMs === 0 ? [] : [`requests held up later for ${laterMs} ms`]),
    `before it ${before.acknowledgedPerSecond} changes a second, 95 % within ${before.latencyMs.p95} ms, beside others on ${before.cores['others'] ?? 0} cores`,
    ...(lostAnswers === undefined ? [] : [`${lostAnswers} answers were lost so far`]),
    `${acknowledgedAnswers} acknowledged, ${statusChanges} stored, ${problems.length} problems`,
  ].join(', ')
}

function toTenths(value: number): number {
  return Math.round(10 * value) / 10
}
