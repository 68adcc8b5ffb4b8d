/*
 * The demo from its first to its last step: the service on an embedded database, an organisation, two
 * receivers, an application to sign in to and a fleet, all in this process. Owns the order of these and that nothing is
 * left behind; knows no flags.
 */
import { createServer, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig, type Config } from '../../app/config/load-config.ts'
import { startService, type RunningService } from '../../app/service.ts'
import { CleanupStack } from '../../platform/cleanup-stack.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { errorCodeOf } from '../../platform/error-code-of.ts'
import type { PortRange } from '../../platform/net/browser-ports.ts'
import {
  findFreePort,
  findFreePortRange,
  listenOnFreePort,
} from '../../platform/net/find-free-port.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import { untilAborted, type CommandIo } from '../command-io.ts'
import { createDemoApi, DemoError, type DemoApi } from './demo-api.ts'
import { createDemoFleet } from './demo-fleet.ts'
import { openDemoFolder } from './demo-folder.ts'
import {
  createDemoPrinter,
  describeEnd,
  describeEvent,
  describeStart,
  describeStatus,
} from './demo-output.ts'
import { deleteStreams, startReceivers } from './demo-receivers.ts'
import { EventTally } from './event-tally.ts'
import { prepareOrganisation } from './prepare-organisation.ts'
import { answerNotYet, startTrial, toRedirectUri } from './try-sign-in/start-trial.ts'

export interface DemoOptions {
  readonly deviceCount: number
  /** Without it the demo runs until it is stopped. */
  readonly seconds: number | undefined
  /** Without it 8080, or another one when that is taken. */
  readonly port: number | undefined
  /** Without it a temporary folder, which is removed. */
  readonly dataDir: string | undefined
  readonly isJson: boolean
}

/** What the demo came to. */
export interface DemoOutcome {
  /** Whether at least one event was verified over push and one over poll. */
  readonly isComplete: boolean
}

const DEFAULT_PORT = 8080
const HOST = '127.0.0.1'
/** For several visitors at once. */
const PROBE_PORT_COUNT = 24
const STATUS_LINE_MS = 10 * SECOND_MS
const LATE_EVENTS_MS = 1.5 * SECOND_MS

/**
 * Runs the demo until its time is up or the signal of `io` is aborted, then ends everything that it
 * started.
 *
 * @throws DemoError when a part of it cannot start
 */
export async function runDemo(options: DemoOptions, io: CommandIo): Promise<DemoOutcome> {
  const cleanup = new CleanupStack()
  try {
    return await runParts(options, io, cleanup)
  } catch (error) {
    // Stopped before everything had started.
    if (io.signal.aborted && error === io.signal.reason) return { isComplete: false }
    throw error
  } finally {
    await cleanup.run()
  }
}

async function runParts(
  options: DemoOptions,
  io: CommandIo,
  cleanup: CleanupStack,
): Promise<DemoOutcome> {
  const print = createDemoPrinter(io, options.isJson)
  const printStep = (text: string) => print({ lines: [text] })
  const folder = await openDemoFolder(options.dataDir)
  cleanup.add(() => folder.remove())
  const { service, config, probePorts } = await startOnPorts(options.port, io.signal, (ports) => {
    const tried = loadConfig({}, toSettings(folder.path, ports))
    printStep(`Starting the service on ${tried.baseUrl} …`)
    return tried
  })
  const { baseUrl } = config
  cleanup.add(() => {
    printStep('Stopping the service …')
    return service.stop()
  })
  io.signal.throwIfAborted()
  const fleet = await createDemoFleet(baseUrl, options.deviceCount, probePorts)
  cleanup.add(() => fleet.stop())
  printStep('Preparing people, keys and enrollment secrets …')
  const trialServer = createServer(answerNotYet)
  const trialPort = await listenOnFreePort(trialServer, HOST)
  cleanup.add(() => close(trialServer))
  const prepared = await prepareOrganisation(config, fleet.owners, toRedirectUri(trialPort))
  io.signal.throwIfAborted()
  const { consoleUrl, key, pollKey, secrets } = prepared
  const api = createDemoApi(baseUrl, key)
  const tally = new EventTally()
  const findName = createNameFinder(api)
  // One event after another, each once its device has a name.
  let printing = Promise.resolve()
  const receivers = await startReceivers({
    baseUrl,
    api,
    pollKey,
    tally,
    onEvent: (event) => {
      printing = printing.then(async () =>
        print(describeEvent(event, await findName(event.deviceId))),
      )
    },
  })
  cleanup.add(async () => {
    await receivers.stop()
    if (folder.isKept) await deleteStreams(api).catch(() => undefined)
  })
  const signInUrl = await startTrial({
    server: trialServer,
    port: trialPort,
    baseUrl,
    credentials: prepared.application,
    visitor: fleet.visitor,
  })
  io.signal.throwIfAborted()
  fleet.start(secrets)
  print(describeStart(baseUrl, { key, consoleUrl, signInUrl }))
  const printStatus = () => print(describeStatus(fleet.counts(), tally.summarise()))
  const timer = setInterval(printStatus, STATUS_LINE_MS)
  await untilAborted(toEnd(io.signal, options.seconds)).finally(() => clearInterval(timer))
  printStep('Stopping the devices and the receivers …')
  const counts = fleet.counts()
  await fleet.stop()
  // What was on its way when the devices stopped still counts.
  if (!tally.isComplete) await sleep(LATE_EVENTS_MS, undefined, io).catch(() => undefined)
  await receivers.stop()
  await printing
  print(describeEnd(counts, tally.summarise()))
  return { isComplete: tally.isComplete }
}

/** Finds the name of a device; undefined when it is not to be had now. */
function createNameFinder(api: DemoApi): (id: string | undefined) => Promise<string | undefined> {
  const names = new Map<string, string>()
  return async (id) => {
    if (id === undefined || names.has(id)) return names.get(id ?? '')
    const name = await api.findDeviceName(id).catch(() => undefined)
    if (name !== undefined) names.set(id, name)
    return name
  }
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** The time is up, or the user has enough. */
function toEnd(signal: AbortSignal, seconds: number | undefined): AbortSignal {
  if (seconds === undefined) return signal
  return AbortSignal.any([signal, AbortSignal.timeout(seconds * SECOND_MS)])
}

/** Ports of the service. */
interface ServicePorts {
  readonly port: number
  readonly probePorts: PortRange
}

interface StartedService {
  readonly service: RunningService
  readonly config: Config
  readonly probePorts: PortRange
}

/** Others that start at the same time choose the same ports, as they are free until somebody listens. */
const STARTS_MAX = 5

/**
 * Starts the service on ports that it can listen on.
 *
 * @throws DemoError when the wanted port is taken; the reason of the signal when it is stopped before
 */
async function startOnPorts(
  wanted: number | undefined,
  signal: AbortSignal,
  toConfig: (ports: ServicePorts) => Config,
): Promise<StartedService> {
  for (let start = 1; ; start += 1) {
    signal.throwIfAborted()
    const ports = await choosePorts(wanted)
    const config = toConfig(ports)
    try {
      const service = await startService(config, SILENT_LOGGER)
      return { service, config, probePorts: ports.probePorts }
    } catch (error) {
      if (!isPortTaken(error) || start === STARTS_MAX) throw error
    }
  }
}

/** A service names its settings where it cannot listen, and why in the cause. */
function isPortTaken(error: unknown): boolean {
  const { cause = error } = error as { readonly cause?: unknown }
  return errorCodeOf(cause) === 'EADDRINUSE'
}

/**
 * The wanted port of the loopback interface; without one 8080, or, when that is taken, the one below the ports of the
 * probe.
 *
 * @throws DemoError when the wanted port is taken: another service would answer in its place
 */
async function choosePorts(wanted: number | undefined): Promise<ServicePorts> {
  const { first, last } = await findFreePortRange(HOST, PROBE_PORT_COUNT + 1)
  const usual = wanted ?? DEFAULT_PORT
  if (usual >= first && usual <= last) return choosePorts(wanted)
  const probePorts = { first: first + 1, last }
  try {
    return { port: await findFreePort(HOST, usual), probePorts }
  } catch {
    if (wanted === undefined) return { port: first, probePorts }
    throw new DemoError(`The port ${wanted} is taken. Choose another with --port.`)
  }
}

function toSettings(
  dataDir: string,
  { port, probePorts: { first, last } }: ServicePorts,
): Record<string, string> {
  return {
    HELIOGRAPH_PROBE_PORTS: `${first}-${last}`,
    HELIOGRAPH_DATA_DIR: dataDir,
    HELIOGRAPH_PORT: String(port),
    // Fast enough to watch, and little enough for a laptop.
    HELIOGRAPH_CHECK_INTERVAL_SECONDS: '5',
    HELIOGRAPH_CHECK_IN_INTERVAL_SECONDS: '2',
    // The push receiver of the demo runs on this machine, without TLS.
    HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1',
    HELIOGRAPH_LOG_LEVEL: 'warn',
  }
}
