/*
 * The Mac of the demo that its visitor signs in from: its settings are switches, and the browser of the visitor counts
 * as a program of it. Owns nothing of the fleet that it belongs to.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { listLocalConnections, type OsqueryNode, type SimulatedDevice } from '@heliograph/simulator'
import type { PortRange } from '../../platform/net/browser-ports.ts'
import type { DemoPerson } from './prepare-organisation.ts'

/** A setting of the device. */
export interface DeviceSwitch {
  readonly name: string
  readonly label: string
  readonly isGood: boolean
}

export interface VisitorDevice {
  readonly owner: DemoPerson
  readonly name: string
  /** Whether the device can tell which connections the browser has. */
  readonly isProvable: boolean
  /** Resolves when the service knows the device and how it is doing, or after so many milliseconds. */
  untilReported(timeoutMs: number): Promise<void>
  listSwitches(): DeviceSwitch[]
  /** Changes a setting of the device; its next answers tell. */
  turn(name: string, to: 'good' | 'bad'): void
}

/** The simulated device with its agent. */
export interface VisitingMember {
  readonly device: SimulatedDevice
  readonly node: OsqueryNode
}

const LOOK_MS = 100

/** The knobs of the simulated device by what their users call them. */
const LABELS: Readonly<Record<string, string>> = {
  'disk-encryption': 'FileVault',
  firewall: 'Firewall',
  'screen-lock': 'Screen lock',
}

/** Makes a device the one of the visitor: the disk is not encrypted, and it sees the browser. */
export function createVisitorDevice(
  { device, node }: VisitingMember,
  owner: DemoPerson,
  probePorts: PortRange,
): VisitorDevice {
  const isProbe = ({ remotePort }: { readonly remotePort: number }) =>
    remotePort >= probePorts.first && remotePort <= probePorts.last
  device.setPosture('disk-encryption', 'bad')
  device.showBrowser(() => listLocalConnections().filter(isProbe))
  return {
    owner,
    name: device.hostname.replace(/\.example\.com$/, ''),
    isProvable: process.platform === 'linux',
    untilReported: async (timeoutMs) => {
      const until = performance.now() + timeoutMs
      while (node.counters.resultsAcknowledged === 0 && performance.now() < until) {
        await sleep(LOOK_MS)
      }
    },
    listSwitches: () =>
      Object.entries(LABELS).map(([name, label]) => ({
        name,
        label,
        isGood: !device.badKnobs.has(name),
      })),
    turn: (name, to) => device.setPosture(name, to),
  }
}
