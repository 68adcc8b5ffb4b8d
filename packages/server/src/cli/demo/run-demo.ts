/*
 * The demo from its first to its last step: the service on an embedded database, an organisation, two
 * receivers and a fleet. Owns the order of these and that nothing is left behind; knows no flags.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig } from '../../app/config/load-config.ts'
import { CleanupStack } from '../../platform/cleanup-stack.ts'
import type { CommandIo } from '../command-io.ts'
import { createDemoApi, PER_PAGE, type ApiDevice, type DemoApi } from './demo-api.ts'
import { DemoError } from './demo-error.ts'
import { inventDevices, listOwners, startFleet } from './demo-fleet.ts'
import { openDemoFolder } from './demo-folder.ts'
import { createDemoOutput, type DemoOutput } from './demo-output.ts'
import { deleteStreams, startReceivers } from './demo-receivers.ts'
import { EventTally } from './event-tally.ts'
import { prepareOrganisation } from './prepare-organisation.ts'
import { choosePort, launchService, type ServiceProcess } from './service-process.ts'
import type { VerifiedEvent } from './verified-event.ts'

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
const LOOK_MS = 1_000
/** Keeps the demo below half of the rate limit of its key, however many devices there are. */
const MS_PER_REQUEST = 500
const STATUS_LINE_MS = 10_000
const LATE_EVENTS_MS = 1_500

/**
 * Runs the demo until its time is up or the signal of `io` is aborted, then ends everything that it
 * started.
 *
 * @throws DemoError when a part of it cannot start, or ends by itself
 */
export async function runDemo(options: DemoOptions, io: CommandIo): Promise<DemoOutcome> {
  const cleanup = new CleanupStack()
  try {
    return await runParts(options, io, cleanup)
  } finally {
    await cleanup.run()
  }
}

async function runParts(
  options: DemoOptions,
  io: CommandIo,
  cleanup: CleanupStack,
): Promise<DemoOutcome> {
  const output = createDemoOutput(io, options.isJson)
  const folder = await openDemoFolder(options.dataDir)
  cleanup.add(() => folder.remove())
  const devices = inventDevices(options.deviceCount)
  cleanup.add(async () => devices.close())
  const settings = toSettings(folder.path, await choosePort(options.port, DEFAULT_PORT))
  const config = loadConfig({}, settings)
  const { baseUrl } = config
  output.step(`Starting the service on ${baseUrl} …`)
  const service = launchService(settings, io.environment)
  cleanup.add(() => {
    output.step('Stopping the service …')
    return service.stop()
  })
  await service.waitUntilReady(io.signal)
  const isStopped = () => io.signal.aborted
  if (isStopped()) return { isComplete: false }
  output.step('Preparing people, keys and enrollment secrets …')
  const { key, pollKey, secrets } = await prepareOrganisation(config, listOwners(devices))
  const api = createDemoApi(baseUrl, key)
  cleanup.add(() => api.close())
  const tally = new EventTally()
  const view = new DeviceView(api, output)
  const onEvent = (event: VerifiedEvent) => view.showEvent(event)
  const receivers = await startReceivers({ baseUrl, api, pollKey, tally, onEvent })
  cleanup.add(async () => {
    await receivers.stop()
    if (folder.isKept) await deleteStreams(api).catch(() => undefined)
  })
  const fleet = startFleet(devices, { baseUrl, secrets })
  cleanup.add(() => fleet.stop())
  output.started(baseUrl, key)
  const snapshot = () => ({ ...view.counts, counts: fleet.counts(), tally: tally.summarise() })
  const timer = setInterval(() => output.status(snapshot()), STATUS_LINE_MS)
  await watchUntilEnd(options.seconds, { signal: io.signal, service, view }).finally(() => {
    clearInterval(timer)
    view.showNameless()
  })
  output.step('Stopping the devices and the receivers …')
  await fleet.stop()
  // What was on its way when the devices stopped still counts.
  if (!isStopped() && !tally.isComplete) await sleep(LATE_EVENTS_MS)
  await receivers.stop()
  view.showNameless()
  output.ended(snapshot())
  return { isComplete: tally.isComplete }
}

function toSettings(dataDir: string, port: number): Record<string, string> {
  return {
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

interface Watched {
  readonly signal: AbortSignal
  readonly service: ServiceProcess
  readonly view: DeviceView
}

/** Looks at the devices until the time is up, the user has enough, or the service ends by itself. */
async function watchUntilEnd(
  seconds: number | undefined,
  { signal, service, view }: Watched,
): Promise<void> {
  const enough = new AbortController()
  const timer =
    seconds === undefined ? undefined : setTimeout(() => enough.abort(), seconds * 1_000)
  const looking = view.lookUntil(AbortSignal.any([signal, enough.signal]))
  const unexpectedEnd = await Promise.race([service.ended, looking])
  clearTimeout(timer)
  enough.abort()
  await looking
  if (unexpectedEnd !== undefined) throw new DemoError(unexpectedEnd)
}

/** The devices as the REST API shows them, read at a modest rate, and the events that name them. */
class DeviceView {
  readonly #api: DemoApi
  readonly #output: DemoOutput
  #devices: readonly ApiDevice[] = []
  #notice: string | undefined
  /** Events of devices that no look has shown yet: their names come with the next one. */
  #nameless: VerifiedEvent[] = []

  constructor(api: DemoApi, output: DemoOutput) {
    this.#api = api
    this.#output = output
  }

  get counts() {
    const blocked = this.#devices.filter((device) => device.auth_state === 'Blocked')
    const notice = this.#notice
    return { deviceCount: this.#devices.length, blockedCount: blocked.length, notice }
  }

  showEvent(event: VerifiedEvent): void {
    const name = this.#findName(event)
    const isKnown = name !== undefined || event.deviceId === undefined
    if (isKnown && this.#nameless.length === 0) this.#output.event(event, name)
    else this.#nameless.push(event)
  }

  showNameless(): void {
    for (const event of this.#nameless) this.#output.event(event, this.#findName(event))
    this.#nameless = []
  }

  async lookUntil(signal: AbortSignal): Promise<undefined> {
    while (!signal.aborted) {
      try {
        this.#devices = await this.#api.listDevices()
        this.#notice = undefined
      } catch (error) {
        if (!(error instanceof DemoError)) throw error
        this.#notice = error.message
      }
      this.showNameless()
      const requests = Math.ceil(this.#devices.length / PER_PAGE)
      const pauseMs = Math.max(LOOK_MS, requests * MS_PER_REQUEST)
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }

  #findName({ deviceId }: VerifiedEvent): string | undefined {
    return this.#devices.find(({ id }) => id === deviceId)?.name
  }
}
