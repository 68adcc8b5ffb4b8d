import type { Row } from './agent-tables.ts'

/** The earlier results of a scheduled query, against which the next run is compared. */
export interface QueryHistory {
  epoch: number
  counter: number
  /** Serialised row to the row and how often it occurs. */
  rows: Map<string, { readonly row: Row; readonly count: number }>
}

/**
 * What an agent keeps on its disk: it survives a restart or crash of the agent, while everything
 * else (results that were not written yet, back-off, timers) is lost with the process.
 */
export interface NodeState {
  nodeKey: string | undefined
  readonly pendingQueries: Map<string, string>
  /** SQL hash to the second at which it began to run; an entry left by a crash denylists the SQL. */
  readonly runningQueries: Map<string, number>
  accelerateUntilSeconds: number
  readonly logLines: Readonly<Record<'result' | 'status', string[]>>
  readonly queryHistories: Map<string, QueryHistory>
  /** Name of the scheduled query that is running. */
  executingQuery: string | undefined
  /** Scheduled query name to the second until which it is denylisted. */
  readonly scheduleDenylist: Map<string, number>
}

/** The state of an agent that never ran. */
export function createNodeState(): NodeState {
  return {
    nodeKey: undefined,
    pendingQueries: new Map(),
    runningQueries: new Map(),
    accelerateUntilSeconds: 0,
    logLines: { result: [], status: [] },
    queryHistories: new Map(),
    executingQuery: undefined,
    scheduleDenylist: new Map(),
  }
}
