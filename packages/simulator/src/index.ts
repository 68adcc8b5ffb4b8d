/**
 * Simulated osquery devices: agents that behave like osquery's C++ client, tables that answer SQL,
 * posture that changes, and whole fleets of them in one process.
 */
export { simulate } from './cli/simulate.ts'
export type { SimulateIo, SimulateOptions, SimulateSummary } from './cli/simulate.ts'
export { createFleet } from './fleet.ts'
export type { Fleet } from './fleet.ts'
export type { FleetMember } from './fleet-members.ts'
export type { FleetOptions } from './fleet-options.ts'
export type { FleetStatistics } from './fleet-statistics.ts'
export { createHostProfile } from './host/host-profile.ts'
export type { HostProfile } from './host/host-profile.ts'
export { listLocalConnections } from './host/local-connections.ts'
export type { LocalConnection } from './host/local-connections.ts'
export { toNodeKeyPath } from './node-key-file.ts'
export type { NodeKeys } from './node-key-file.ts'
export type { AgentTables, QueryOutcome, Row } from './osquery-client/agent-tables.ts'
export { createNode } from './osquery-client/create-node.ts'
export type { CreateNodeOptions, OsqueryNode } from './osquery-client/create-node.ts'
export type { NodeCounters } from './osquery-client/node-counters.ts'
export {
  CURRENT_AGENT,
  DEFAULT_FLAGS,
  DEFAULT_PATHS,
  OLD_AGENT,
} from './osquery-client/node-options.ts'
export type { AgentFlags, AgentQuirks, NodePaths } from './osquery-client/node-options.ts'
export { createNodeState } from './osquery-client/node-state.ts'
export type { NodeState } from './osquery-client/node-state.ts'
export { createTransport } from './osquery-client/transport.ts'
export type { Transport, TransportOptions } from './osquery-client/transport.ts'
export { PLATFORMS } from './platform.ts'
export type { Platform } from './platform.ts'
export type { DriftPolicy, TimelineEntry } from './posture/drift.ts'
export type { Knob, PostureState } from './posture/knob.ts'
export { findKnob, listKnobs } from './posture/knobs.ts'
export { createDeviceFactory } from './posture/simulated-device.ts'
export type { DeviceFactory, SimulatedDevice } from './posture/simulated-device.ts'
export { createRandom } from './random.ts'
export { createHeapScheduler } from './scheduler.ts'
export type { ClosableScheduler, Scheduler } from './scheduler.ts'
