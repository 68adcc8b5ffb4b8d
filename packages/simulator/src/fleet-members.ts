import type { FleetOptions } from './fleet-options.ts'
import type { NodeKeys } from './node-key-file.ts'
import { createNode } from './osquery-client/create-node.ts'
import type { OsqueryNode } from './osquery-client/create-node.ts'
import { OLD_AGENT } from './osquery-client/node-options.ts'
import type { AgentFlags } from './osquery-client/node-options.ts'
import { createNodeState } from './osquery-client/node-state.ts'
import type { NodeState } from './osquery-client/node-state.ts'
import type { Transport } from './osquery-client/transport.ts'
import { PLATFORMS } from './platform.ts'
import type { Platform } from './platform.ts'
import { listKnobs } from './posture/knobs.ts'
import type { DeviceFactory, SimulatedDevice } from './posture/simulated-device.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

/** One agent of a fleet; `device` is absent for the machine that the fleet runs on. */
export interface FleetMember {
  readonly node: OsqueryNode
  readonly device: SimulatedDevice | undefined
}

interface MemberTools {
  readonly factory: DeviceFactory
  readonly random: Random
  readonly scheduler: Scheduler
  readonly transport: Transport
}

const DEFAULT_MIX: Readonly<Record<Platform, number>> = { darwin: 5, windows: 3, linux: 2 }

/** Real operators refresh configurations; osquery's own default is to fetch once. */
const FLEET_FLAGS: Partial<AgentFlags> = { configRefreshSeconds: 300 }

/** Platforms in the given shares, spread evenly so that a small fleet has all of them. */
function spreadPlatforms(count: number, mix: FleetOptions['mix']): Platform[] {
  const shares = mix ?? DEFAULT_MIX
  const credits = new Map<Platform, number>(PLATFORMS.map((platform) => [platform, 0]))
  const total = PLATFORMS.reduce((sum, platform) => sum + (shares[platform] ?? 0), 0)
  if (total <= 0) throw new Error('The mix names no platform')
  return Array.from({ length: count }, () => {
    let chosen: Platform = 'darwin'
    for (const platform of PLATFORMS) {
      credits.set(platform, (credits.get(platform) ?? 0) + (shares[platform] ?? 0) / total)
      if ((credits.get(platform) ?? 0) > (credits.get(chosen) ?? 0)) chosen = platform
    }
    credits.set(chosen, (credits.get(chosen) ?? 0) - 1)
    return chosen
  })
}

function breakInitially(device: SimulatedDevice, share: number, random: Random): void {
  for (const { name } of listKnobs(device.platform)) {
    if (random() < share) device.setPosture(name, 'bad')
  }
}

/** The disk of an agent, of which the node key outlives the process where keys are kept. */
function createState(hostIdentifier: string, nodeKeys: NodeKeys | undefined): NodeState {
  const state = createNodeState()
  if (nodeKeys === undefined) return state
  return Object.defineProperty(state, 'nodeKey', {
    get: () => nodeKeys.get(hostIdentifier),
    set: (nodeKey: string | undefined) => nodeKeys.set(hostIdentifier, nodeKey),
  })
}

/** Makes the devices and agents that the options describe; nothing runs yet. */
export function createFleetMembers(options: FleetOptions, tools: MemberTools): FleetMember[] {
  const { random, scheduler, transport } = tools
  const flags = { ...FLEET_FLAGS, ...options.flags }
  const base = { transport, scheduler, random }
  const { enrollSecret } = options
  const toSecret = (device: SimulatedDevice | undefined) =>
    typeof enrollSecret === 'string' ? enrollSecret : enrollSecret(device)
  const members = spreadPlatforms(options.count, options.mix).map((platform): FleetMember => {
    const device = tools.factory.create(platform, random)
    breakInitially(device, options.initialBadShare ?? 0, random)
    const isOld = random() < (options.oldAgentShare ?? 0)
    const node = createNode({
      ...base,
      get enrollSecret() {
        return toSecret(device)
      },
      hostIdentifier: device.hostIdentifier,
      state: createState(device.hostIdentifier, options.nodeKeys),
      platform,
      tables: device.tables,
      flags: isOld ? { ...flags, agentVersion: '4.3.0', quirks: OLD_AGENT } : flags,
    })
    return { node, device }
  })
  if (options.host !== undefined) {
    const { hostIdentifier, platform, tables } = options.host
    members.push({
      node: createNode({
        ...base,
        get enrollSecret() {
          return toSecret(undefined)
        },
        hostIdentifier,
        state: createState(hostIdentifier, options.nodeKeys),
        platform,
        tables,
        flags,
      }),
      device: undefined,
    })
  }
  return members
}
