/*
 * The devices of the demo: simulated ones that belong to people and whose posture changes while one
 * watches, and the machine that the demo runs on as it really is.
 */
import { createFleet, createHostProfile, type SimulatedDevice } from '@heliograph/simulator'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import type { PortRange } from '../../platform/net/browser-ports.ts'
import { DemoError } from './demo-api.ts'
import { DEMO_ADMIN, type DemoPerson } from './prepare-organisation.ts'
import { createVisitorDevice, type VisitorDevice } from './visitor-device.ts'

/** What the devices have done so far. */
export interface FleetCounts {
  readonly devices: number
  readonly checkIns: number
  readonly results: number
}

/** Devices that do nothing before they are started. */
export interface DemoFleet {
  /** Everybody who owns one of them. */
  readonly owners: readonly DemoPerson[]
  /** The one that visitors sign in from. */
  readonly visitor: VisitorDevice
  /** Starts the agents of all devices. The enrollment secrets are by the email address of the owner. */
  start(secrets: ReadonlyMap<string, string>): void
  counts(): FleetCounts
  /** Safe to call twice. */
  stop(): Promise<void>
}

const SEED = 20_260_102
const START_SPREAD_MS = 8 * SECOND_MS
const HOST_REFRESH_MS = 5 * MINUTE_MS
/** Something happens every few seconds; most of these faults block at once. */
const DRIFT = {
  breakPerMinute: 0.5,
  fixPerMinute: 1,
  knobs: ['firewall', 'disk-encryption', 'screen-lock', 'automatic-updates', 'ssh-root-login'],
}

/**
 * Makes the devices, which report to `baseUrl`, and the one of the visitor beside them; the same number gives the same
 * devices.
 */
export async function createDemoFleet(
  baseUrl: string,
  deviceCount: number,
  probePorts: PortRange,
): Promise<DemoFleet> {
  let secrets: ReadonlyMap<string, string> = new Map()
  const host = await createHostProfile()
  const refreshing = setInterval(() => void host.refresh(), HOST_REFRESH_MS)
  const fleet = createFleet({
    baseUrl,
    enrollSecret: (device) => secrets.get(toOwner(device).email) ?? '',
    count: deviceCount + 1,
    host,
    seed: SEED,
    startSpreadMs: START_SPREAD_MS,
    drift: { ...DRIFT, isSpared: (device) => device === visiting },
  })
  const member = fleet.members.find(({ device }) => device?.platform === 'darwin')
  const visiting = member?.device
  if (member === undefined || visiting === undefined) throw new DemoError('The fleet has no Mac.')
  const { node } = member
  let stopping: Promise<void> | undefined
  async function stop(): Promise<void> {
    clearInterval(refreshing)
    await fleet.stop()
    host.close()
  }
  const owners = fleet.members.map(({ device }) => toOwner(device))
  return {
    visitor: createVisitorDevice({ device: visiting, node }, toOwner(visiting), probePorts),
    owners: [...new Map(owners.map((owner) => [owner.email, owner])).values()],
    start: (given) => {
      secrets = given
      // A visitor may come at once.
      node.start()
      fleet.start()
    },
    counts: () => {
      const { counters, enrolled } = fleet.statistics()
      const { distributedReadsAcknowledged: checkIns, resultsAcknowledged: results } = counters
      return { devices: enrolled, checkIns, results }
    },
    stop: () => (stopping ??= stop()),
  }
}

/** The admin owns this machine. */
function toOwner(device: SimulatedDevice | undefined): DemoPerson {
  if (device === undefined) return DEMO_ADMIN
  const name = device.person.fullName
  return { name, email: `${name.toLowerCase().replaceAll(' ', '.')}@example.com` }
}
