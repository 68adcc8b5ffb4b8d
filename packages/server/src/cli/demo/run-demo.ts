/*
 * The demo from its first to its last step: the service on an embedded database, an organisation, two
 * receivers and a fleet. Owns the order of these and that nothing is left behind; knows no flags.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig } from '../../app/config/load-config.ts'
import type { CommandIo } from '../command-io.ts'
import { createDemoApi, type DemoApi } from './demo-api.ts'
import { createDemoConnections, type DemoConnections } from './demo-connections.ts'
import { DemoError } from './demo-error.ts'
import {
  inventDevices,
  listOwners,
  startFleet,
  type DemoDevices,
  type DemoFleet,
} from './demo-fleet.ts'
import { openDemoFolder, type DemoFolder } from './demo-folder.ts'
import { createGuide } from './demo-guide.ts'
import { createDemoOutput, type DemoOutput, type DemoSnapshot } from './demo-output.ts'
import { deleteStreams, startReceivers } from './demo-receivers.ts'
import { DeviceBoard } from './device-board.ts'
import { EventTally } from './event-tally.ts'
import { DEMO_ADMIN, prepareOrganisation, type DemoCredentials } from './prepare-organisation.ts'
import { choosePort, launchService, type ServiceProcess } from './service-process.ts'

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
/** Fast enough to watch, and little enough for a laptop. */
const CHECK_INTERVAL_SECONDS = '5'
const CHECK_IN_INTERVAL_SECONDS = '2'
const LOOK_MS = 1_000
/** Keeps the demo below half of the rate limit of its key, however many devices there are. */
const MS_PER_REQUEST = 500
const LATE_EVENTS_MS = 1_500

/**
 * Runs the demo until its time is up or the signal of `io` is aborted, then ends everything that it
 * started.
 *
 * @throws DemoError when a part of it cannot start, or ends by itself
 */
export async function runDemo(options: DemoOptions, io: CommandIo): Promise<DemoOutcome> {
  const output = createDemoOutput(io, options.isJson)
  const folder = await openDemoFolder(options.dataDir)
  const devices = inventDevices(options.deviceCount)
  try {
    return await runService({ options, io, output, folder, devices })
  } finally {
    output.stopFollowing()
    devices.close()
    await folder.remove()
  }
}

interface DemoParts {
  readonly options: DemoOptions
  readonly io: CommandIo
  readonly output: DemoOutput
  readonly folder: DemoFolder
  readonly devices: DemoDevices
}

async function runService(parts: DemoParts): Promise<DemoOutcome> {
  const { options, io, output, folder } = parts
  const port = await choosePort(options.port, DEFAULT_PORT)
  const settings = toSettings(folder.path, port)
  const config = loadConfig({}, settings)
  output.step(`Starting the service on ${config.baseUrl} …`)
  const service = launchService({ settings, environment: io.environment, baseUrl: config.baseUrl })
  try {
    await service.waitUntilReady(io.signal)
    if (io.signal.aborted) return { isComplete: false }
    output.step('Preparing people, keys and enrollment secrets …')
    const owner = {
      name: `${DEMO_ADMIN.firstName} ${DEMO_ADMIN.lastName}`,
      email: DEMO_ADMIN.email,
    }
    const people = [...listOwners(parts.devices), owner]
    const credentials = await prepareOrganisation(config, people)
    const connections = createDemoConnections()
    const { baseUrl } = config
    return await runScene({ ...parts, service, baseUrl, credentials, connections }).finally(() =>
      connections.close(),
    )
  } finally {
    output.stopFollowing()
    output.step('Stopping the service …')
    await service.stop()
  }
}

function toSettings(dataDir: string, port: number): Record<string, string> {
  return {
    HELIOGRAPH_DATA_DIR: dataDir,
    HELIOGRAPH_PORT: String(port),
    HELIOGRAPH_CHECK_INTERVAL_SECONDS: CHECK_INTERVAL_SECONDS,
    HELIOGRAPH_CHECK_IN_INTERVAL_SECONDS: CHECK_IN_INTERVAL_SECONDS,
    // The push receiver of the demo runs on this machine, without TLS.
    HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1',
    HELIOGRAPH_LOG_LEVEL: 'warn',
  }
}

interface Scene extends DemoParts {
  readonly service: ServiceProcess
  readonly baseUrl: string
  readonly credentials: DemoCredentials
  readonly connections: DemoConnections
}

async function runScene(scene: Scene): Promise<DemoOutcome> {
  const { output, folder, baseUrl, credentials, connections } = scene
  const api = createDemoApi(baseUrl, credentials.key, connections.fetch)
  const tally = new EventTally()
  const receivers = await startReceivers({
    baseUrl,
    api,
    pollKey: credentials.pollKey,
    tally,
    onEvent: (event) => output.event(event),
    fetch: connections.fetch,
  })
  const board = new DeviceBoard(api)
  const fleet = startFleet(scene.devices, {
    baseUrl,
    secretOf: (email) => findSecret(credentials, email),
    hostOwnerEmail: DEMO_ADMIN.email,
  })
  const guide = createGuide(baseUrl, credentials.key)
  const watch = createWatch({ board, fleet, tally })
  let isFleetStopped = false
  try {
    output.started(guide, watch.snapshot)
    await watchUntilEnd(scene, { api, board, watch })
    output.stopFollowing()
    output.step('Stopping the devices and the receivers …')
    await fleet.stop()
    isFleetStopped = true
    // What was on its way when the devices stopped still counts.
    if (!scene.io.signal.aborted && !tally.isComplete) await sleep(LATE_EVENTS_MS)
  } finally {
    if (!isFleetStopped) await fleet.stop()
    await receivers.stop()
    if (folder.isKept) await deleteStreams(api).catch(() => undefined)
  }
  output.ended(watch.snapshot())
  return { isComplete: tally.isComplete }
}

/** What is shown, read from where it happens. */
interface Watch {
  readonly snapshot: () => DemoSnapshot
  /** Sets or clears what is amiss. */
  readonly setNotice: (notice: string | undefined) => void
}

function createWatch(from: {
  readonly board: DeviceBoard
  readonly fleet: DemoFleet
  readonly tally: EventTally
}): Watch {
  let notice: string | undefined
  return {
    snapshot: () => ({
      deviceCount: from.board.deviceCount,
      blockedCount: from.board.blockedCount,
      deviceName: (id) => from.board.nameOf(id),
      counts: from.fleet.counts(),
      tally: from.tally.summarise(),
      notice,
    }),
    setNotice: (text) => (notice = text),
  }
}

interface Watching {
  readonly api: DemoApi
  readonly board: DeviceBoard
  readonly watch: Watch
}

/** Looks at the devices until the time is up, the user has enough, or the service ends by itself. */
async function watchUntilEnd(scene: Scene, watching: Watching): Promise<void> {
  const { options, io, service } = scene
  const enough = new AbortController()
  const signal = AbortSignal.any([io.signal, enough.signal])
  const timer =
    options.seconds === undefined
      ? undefined
      : setTimeout(() => enough.abort(), options.seconds * 1_000)
  const looking = lookUntil(signal, scene.output, watching)
  const unexpectedEnd = await Promise.race([service.ended, looking.then(() => undefined)])
  clearTimeout(timer)
  enough.abort()
  await looking
  if (unexpectedEnd !== undefined) throw new DemoError(unexpectedEnd)
}

async function lookUntil(
  signal: AbortSignal,
  output: DemoOutput,
  { api, board, watch }: Watching,
): Promise<void> {
  while (!signal.aborted) {
    const requestsBefore = api.requestCount
    try {
      await board.refresh()
      watch.setNotice(undefined)
    } catch (error) {
      if (!(error instanceof DemoError)) throw error
      watch.setNotice(error.message)
    }
    output.refreshed()
    const pauseMs = Math.max(LOOK_MS, (api.requestCount - requestsBefore) * MS_PER_REQUEST)
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}

function findSecret({ secrets }: DemoCredentials, email: string): string {
  const secret = secrets.get(email)
  if (secret === undefined) throw new Error(`There is no enrollment secret for ${email}.`)
  return secret
}
