import type { HostProfile } from './host/host-profile.ts'
import type { NodeKeys } from './node-key-file.ts'
import type { AgentFlags } from './osquery-client/node-options.ts'
import type { Platform } from './platform.ts'
import type { DriftPolicy, PostureListener, TimelineEntry } from './posture/drift.ts'
import type { SimulatedDevice } from './posture/simulated-device.ts'
import type { ClosableScheduler } from './scheduler.ts'

/** Which devices a fleet has, where they enroll and what becomes of them. */
export interface FleetOptions {
  readonly baseUrl: string
  /** One for all, or that of a device, asked for when its agent starts; undefined is the host's own. */
  readonly enrollSecret: string | ((device: SimulatedDevice | undefined) => string)
  /** Invented devices; the host's own comes on top of them. */
  readonly count: number
  /** PEM of the authority that signed the server's certificate. */
  readonly ca?: string | undefined
  /** Shares by platform; they need not add up to one. Default: 5 macOS, 3 Windows, 2 Linux. */
  readonly mix?: Readonly<Partial<Record<Platform, number>>>
  readonly seed?: number
  readonly flags?: Partial<AgentFlags>
  /** Share of agents that behave like an old release on the wire, 0 to 1. */
  readonly oldAgentShare?: number
  /** How likely each knob of a device is bad at the start, 0 to 1. */
  readonly initialBadShare?: number
  /** Milliseconds over which the agents start. */
  readonly startSpreadMs?: number
  readonly connectionsMax?: number
  readonly drift?: DriftPolicy | undefined
  readonly timeline?: readonly TimelineEntry[]
  readonly onPostureChange?: PostureListener
  /** The machine this runs on, as one more device. */
  readonly host?: HostProfile | undefined
  readonly scheduler?: ClosableScheduler
  /** The node keys that agents had before, and where new ones are kept; by default they begin without. */
  readonly nodeKeys?: NodeKeys | undefined
}
