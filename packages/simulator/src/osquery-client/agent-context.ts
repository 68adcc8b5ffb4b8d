import type { AgentTables } from './agent-tables.ts'
import type { JsonObject } from './failure-contract.ts'
import type { Lifetime } from './lifetime.ts'
import type { NodeCounters } from './node-counters.ts'
import type { AgentFlags } from './node-options.ts'
import type { NodeState } from './node-state.ts'
import type { Random } from '../random.ts'
import type { Platform } from '../platform.ts'
import type { Scheduler } from '../scheduler.ts'
import type { Transport } from './transport.ts'

export const SECOND_MS = 1_000

/** Severities of status log lines, as glog numbers them. */
export type Severity = 0 | 1 | 2

/** What the parts of one running agent share. */
export interface AgentContext {
  readonly hostIdentifier: string
  readonly platform: Platform
  readonly enrollSecret: string
  readonly scheduler: Scheduler
  readonly random: Random
  readonly transport: Transport
  readonly tables: AgentTables
  readonly counters: NodeCounters
  readonly lifetime: Lifetime
  readonly state: NodeState
  /** Command-line flags with what the configuration's `options` changed. */
  readonly flags: () => AgentFlags
  readonly setFlags: (changes: Partial<AgentFlags>) => void
  readonly decorations: JsonObject
  readonly logStatus: (severity: Severity, message: string) => void
  /** Ends the process the way a crash does; true when the given SQL does that to this node. */
  readonly crashesOn: (sql: string) => boolean
  readonly crash: () => void
}

/** Seconds since the epoch, as the agent writes times. */
export function unixTime(scheduler: Scheduler): number {
  return Math.floor(scheduler.nowMs() / SECOND_MS)
}
