/** Many simulated devices with their agents in one process. */
import { createFleetMembers } from './fleet-members.ts'
import type { FleetMember } from './fleet-members.ts'
import type { FleetOptions } from './fleet-options.ts'
import { createRequestRecorder } from './fleet-statistics.ts'
import type { FleetStatistics } from './fleet-statistics.ts'
import { createTransport } from './osquery-client/transport.ts'
import { playTimeline, startDrift } from './posture/drift.ts'
import type { PostureState } from './posture/knob.ts'
import { createDeviceFactory } from './posture/simulated-device.ts'
import { createRandom } from './random.ts'
import { createHeapScheduler } from './scheduler.ts'
import type { CancelTask } from './scheduler.ts'

export interface Fleet {
  /** The devices with their agents; the host's own is last. */
  readonly members: readonly FleetMember[]
  /** Starts all agents, spread over `startSpreadMs`. */
  start(): void
  /** Stops all agents and closes what they used. */
  stop(): Promise<void>
  statistics(): FleetStatistics
  /** Turns a knob of the device at that index. Throws on the host's own device and unknown names. */
  setPosture(index: number, knob: string, state: PostureState): void
}

const DEFAULT_SPREAD_MS = 10_000

/** Makes a fleet; nothing runs before `start`. The same seed makes the same devices. */
export function createFleet(options: FleetOptions): Fleet {
  const random = createRandom(options.seed ?? 1)
  const scheduler = options.scheduler ?? createHeapScheduler()
  const recorder = createRequestRecorder()
  const transport = createTransport({
    baseUrl: options.baseUrl,
    ca: options.ca,
    connectionsMax: options.connectionsMax ?? 64,
    onRequest: (measurement) => recorder.record(measurement),
  })
  const factory = createDeviceFactory(() => scheduler.nowMs())
  const members = createFleetMembers(options, { factory, random, scheduler, transport })
  const devices = members.map(({ device }) => device).filter((device) => device !== undefined)
  const nodes = members.map(({ node }) => node)
  const cancels: CancelTask[] = []
  const onChange = options.onPostureChange ?? (() => undefined)

  return {
    members,
    start() {
      const spreadMs = options.startSpreadMs ?? DEFAULT_SPREAD_MS
      for (const node of nodes) {
        cancels.push(scheduler.schedule(random() * spreadMs, () => node.start()))
      }
      if (options.drift !== undefined) {
        cancels.push(startDrift(devices, options.drift, { scheduler, random, onChange }))
      }
      cancels.push(playTimeline(devices, options.timeline ?? [], { scheduler, onChange }))
    },
    async stop() {
      for (const cancel of cancels) cancel()
      for (const node of nodes) node.stop()
      scheduler.close()
      await transport.close()
      factory.close()
    },
    statistics: () => recorder.summarise(nodes),
    setPosture(index, knob, state) {
      const device = members[index]?.device
      if (device === undefined)
        throw new Error(`No device at index ${index} whose posture can change`)
      device.setPosture(knob, state)
      onChange(device, knob, state)
    },
  }
}
