/*
 * The devices of the demo: simulated ones that belong to people and whose posture changes while one
 * watches, and the machine that the demo runs on as it really is.
 */
import {
  createFleet,
  createHostProfile,
  type Fleet,
  type HostProfile,
  type SimulatedDevice,
} from '@heliograph/simulator'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { DEMO_ADMIN, type DemoPerson } from './prepare-organisation.ts'

/** What the devices have done so far. */
export interface FleetCounts {
  readonly checkIns: number
  readonly results: number
}

/** Devices that do nothing before they are started. */
export interface DemoFleet {
  /** Everybody who owns one of them. */
  readonly owners: readonly DemoPerson[]
  /**
   * Starts the agents of all devices, and of this machine as soon as it has been looked at. The
   * enrollment secrets are by the email address of the owner.
   */
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

/** Makes the devices, which report to `baseUrl`; the same number gives the same devices. */
export function createDemoFleet(baseUrl: string, deviceCount: number): DemoFleet {
  let secrets: ReadonlyMap<string, string> = new Map()
  const common = {
    baseUrl,
    enrollSecret: (device: SimulatedDevice | undefined) => secrets.get(toOwner(device).email) ?? '',
  }
  const fleet = createFleet({
    ...common,
    count: deviceCount,
    seed: SEED,
    startSpreadMs: START_SPREAD_MS,
    drift: DRIFT,
  })
  const fleets: Fleet[] = [fleet]
  let host: HostProfile | undefined
  let refreshing: NodeJS.Timeout | undefined
  let stopping: Promise<void> | undefined

  async function joinAsHost(): Promise<void> {
    const profile = await createHostProfile()
    if (stopping !== undefined) {
      profile.close()
      return
    }
    host = profile
    refreshing = setInterval(() => void profile.refresh(), HOST_REFRESH_MS)
    const own = createFleet({ ...common, count: 0, host, startSpreadMs: 0 })
    fleets.push(own)
    own.start()
  }

  async function stopAll(): Promise<void> {
    clearInterval(refreshing)
    await Promise.all(fleets.map((each) => each.stop()))
    host?.close()
  }

  const owners = fleet.members.map(({ device }) => toOwner(device))
  return {
    owners: [...new Map(owners.map((owner) => [owner.email, owner])).values()],
    start: (given) => {
      secrets = given
      fleet.start()
      void joinAsHost()
    },
    counts: () => {
      const counters = fleets.map((each) => each.statistics().counters)
      return {
        checkIns: counters.reduce((sum, { distributedReads }) => sum + distributedReads, 0),
        results: counters.reduce((sum, { resultsAcknowledged }) => sum + resultsAcknowledged, 0),
      }
    },
    stop: () => (stopping ??= stopAll()),
  }
}

/** The admin owns this machine. */
function toOwner(device: SimulatedDevice | undefined): DemoPerson {
  if (device === undefined) return DEMO_ADMIN
  const name = device.person.fullName
  return { name, email: `${name.toLowerCase().replaceAll(' ', '.')}@example.com` }
}
