/*
 * The devices of the demo: simulated ones that belong to people and whose posture changes while one
 * watches, and the machine that the demo runs on as it really is.
 */
import {
  createDeviceFactory,
  createHeapScheduler,
  createHostProfile,
  createNode,
  createRandom,
  createTransport,
  listKnobs,
  type HostProfile,
  type OsqueryNode,
  type Platform,
  type SimulatedDevice,
} from '@heliograph/simulator'
import { DEMO_ADMIN, type DemoPerson } from './prepare-organisation.ts'

/** What the devices have done so far. */
export interface FleetCounts {
  readonly checkIns: number
  readonly results: number
}

export interface DemoFleetOptions {
  readonly baseUrl: string
  /** Enrollment secrets by the email address of the owner. */
  readonly secrets: ReadonlyMap<string, string>
}

/** A fleet that runs. */
export interface DemoFleet {
  counts(): FleetCounts
  /** Safe to call twice. */
  stop(): Promise<void>
}

type Random = () => number

type NodeDevice = Pick<HostProfile, 'hostIdentifier' | 'platform' | 'tables'>

interface InventedDevice {
  readonly device: SimulatedDevice
  readonly platform: Platform
}

const SEED = 20_260_102
/** Five macOS, three Windows, two Linux. */
const PLATFORM_ROUND: readonly Platform[] = [
  'darwin',
  'windows',
  'darwin',
  'linux',
  'darwin',
  'windows',
  'darwin',
  'linux',
  'darwin',
  'windows',
]
const START_SPREAD_MS = 8_000
const HOST_REFRESH_MS = 300_000
/** The first round shows devices turning compliant; then something happens every few seconds. */
const FIRST_TURN_MS = 6_000
const TURN_MS = 1_800
/** Of the devices, about this share has a fault at any time. */
const FAULTY_SHARE = 0.2
const BLOCKING_KNOBS = ['firewall', 'disk-encryption', 'screen-lock']
/** Faults that warn first or only notify. */
const OTHER_KNOBS = [
  'antivirus',
  'automatic-login',
  'automatic-updates',
  'gatekeeper',
  'guest-account',
  'ssh-keys',
  'ssh-root-login',
  'system-integrity-protection',
  'user-account-control',
]
const BLOCKING_SHARE = 0.7

/** Devices that nothing runs on yet. */
export interface DemoDevices {
  readonly devices: readonly InventedDevice[]
  readonly random: Random
  close(): void
}

/** Invents the devices of the demo; the same number gives the same devices. */
export function inventDevices(count: number): DemoDevices {
  const random = createRandom(SEED)
  const factory = createDeviceFactory(() => Date.now())
  const devices = Array.from({ length: count }, (_, index): InventedDevice => {
    const platform = PLATFORM_ROUND[index % PLATFORM_ROUND.length] ?? 'darwin'
    return { platform, device: factory.create(platform, random) }
  })
  return { devices, random, close: () => factory.close() }
}

/** Everybody who owns one of the devices. */
export function listOwners({ devices }: DemoDevices): DemoPerson[] {
  const owners = devices.map(({ device }) => toOwner(device))
  return [...new Map(owners.map((owner) => [owner.email, owner])).values()]
}

/** Starts the agents of all devices, and of this machine as soon as it has been looked at. */
export function startFleet(
  { devices, random }: DemoDevices,
  { baseUrl, secrets }: DemoFleetOptions,
): DemoFleet {
  const scheduler = createHeapScheduler()
  const transport = createTransport({ baseUrl })
  const nodes: OsqueryNode[] = []
  const addNode = (device: NodeDevice, { email }: DemoPerson): OsqueryNode => {
    const { hostIdentifier, platform, tables } = device
    const enrollSecret = secrets.get(email)
    if (enrollSecret === undefined) throw new Error(`There is no enrollment secret for ${email}.`)
    const from = { transport, scheduler, random, hostIdentifier, platform, tables, enrollSecret }
    const node = createNode(from)
    nodes.push(node)
    return node
  }
  for (const { device, platform } of devices) {
    const { hostIdentifier, tables } = device
    const node = addNode({ hostIdentifier, platform, tables }, toOwner(device))
    scheduler.schedule(random() * START_SPREAD_MS, () => node.start())
  }
  const turn = () => {
    turnOneKnob(devices, random)
    scheduler.schedule(TURN_MS, turn)
  }
  scheduler.schedule(FIRST_TURN_MS, turn)
  const host = joinAsHost((profile) => addNode(profile, DEMO_ADMIN).start())
  let stopping: Promise<void> | undefined
  const stop = async () => {
    host.leave()
    for (const node of nodes) node.stop()
    scheduler.close()
    await transport.close()
  }
  return { counts: () => countWork(nodes), stop: () => (stopping ??= stop()) }
}

function joinAsHost(join: (profile: HostProfile) => void): { leave(): void } {
  let profile: HostProfile | undefined
  let timer: NodeJS.Timeout | undefined
  let hasLeft = false
  void createHostProfile().then((created) => {
    if (hasLeft) {
      created.close()
      return
    }
    profile = created
    timer = setInterval(() => void created.refresh(), HOST_REFRESH_MS)
    join(created)
  })
  return {
    leave() {
      hasLeft = true
      clearInterval(timer)
      profile?.close()
    },
  }
}

/** Mends a fault when there are many, else makes one; mostly one that blocks. */
function turnOneKnob(devices: DemoDevices['devices'], random: Random): void {
  const faulty = devices.filter(({ device }) => device.badKnobs.size > 0)
  if (random() < faulty.length / (2 * FAULTY_SHARE * devices.length)) {
    const mended = pick(faulty, random)
    for (const knob of [...(mended?.device.badKnobs ?? [])]) mended?.device.setPosture(knob, 'good')
    return
  }
  const healthy = pick(
    devices.filter(({ device }) => device.badKnobs.size === 0),
    random,
  )
  if (healthy === undefined) return
  const wanted = random() < BLOCKING_SHARE ? BLOCKING_KNOBS : OTHER_KNOBS
  const knobs = listKnobs(healthy.platform)
    .map(({ name }) => name)
    .filter((name) => wanted.includes(name))
  const knob = pick(knobs, random)
  if (knob !== undefined) healthy.device.setPosture(knob, 'bad')
}

function pick<Item>(items: readonly Item[], random: Random): Item | undefined {
  return items[Math.floor(random() * items.length)]
}

function countWork(nodes: readonly OsqueryNode[]): FleetCounts {
  return {
    checkIns: nodes.reduce((sum, { counters }) => sum + counters.distributedReads, 0),
    results: nodes.reduce((sum, { counters }) => sum + counters.resultsAcknowledged, 0),
  }
}

function toOwner({ person }: SimulatedDevice): DemoPerson {
  const name = person.fullName
  return { name, email: `${name.toLowerCase().replaceAll(' ', '.')}@example.com` }
}
