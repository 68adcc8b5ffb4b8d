/**
 * Distributed (live) queries: polls for work, runs it one query after another and writes all
 * results of a batch in one request. Mirrors osquery/distributed/distributed.cpp.
 */
import { performance } from 'node:perf_hooks'
import { SECOND_MS, unixTime } from './agent-context.ts'
import type { AgentContext } from './agent-context.ts'
import type { Row } from './agent-tables.ts'
import { parseDistributedWork } from './distributed-work.ts'
import type { DistributedWork } from './distributed-work.ts'
import type { JsonObject } from './failure-contract.ts'
import { hashSql } from './node-options.ts'
import type { AgentRequester } from './tls-request.ts'

const ACCELERATED_INTERVAL_MS = 5 * SECOND_MS
const DENYLISTED_MESSAGE = 'distributed query is denylisted'

interface QueryResult {
  readonly id: string
  readonly rows: Row[]
  readonly status: number
  readonly message: string
  readonly wallTimeMs: number
}

export interface DistributedRunner {
  /** Polls until the run of the agent is over. */
  run(): Promise<void>
}

/** Builds the write request's members from the results of a batch, in the dialect of the agent. */
function renderResults(results: readonly QueryResult[], context: AgentContext): JsonObject {
  const { quirks } = context.flags()
  const queries: JsonObject = {}
  const statuses: JsonObject = {}
  const messages: JsonObject = {}
  const stats: JsonObject = {}
  for (const { id, rows, status, message, wallTimeMs } of results) {
    queries[id] = rows.length === 0 && quirks.sendsEmptyStringForNoRows ? '' : rows
    statuses[id] = quirks.sendsStringStatuses ? String(status) : status
    messages[id] = message
    stats[id] = { wall_time_ms: wallTimeMs, user_time: wallTimeMs, system_time: 0, memory: 0 }
  }
  return {
    queries,
    statuses,
    ...(quirks.sendsMessages ? { messages } : {}),
    ...(quirks.sendsStats ? { stats } : {}),
  }
}

class TlsDistributedRunner implements DistributedRunner {
  readonly #context: AgentContext
  readonly #requester: AgentRequester
  #results: QueryResult[] = []

  constructor(context: AgentContext, requester: AgentRequester) {
    this.#context = context
    this.#requester = requester
  }

  async run(): Promise<void> {
    const { lifetime, state } = this.#context
    while (!lifetime.isOver()) {
      await this.#pullUpdates()
      if (state.pendingQueries.size > 0 && !lifetime.isOver()) {
        this.#runPending()
        await this.#flushCompleted()
      }
      if (!(await lifetime.sleep(this.#intervalMs()))) return
    }
  }

  async #pullUpdates(): Promise<void> {
    const { counters, lifetime } = this.#context
    counters.distributedReads += 1
    const answer = await this.#requester.sendWithAttempts({
      path: this.#context.flags().paths.distributedRead,
      mayBeHeld: true,
      renderBody: (nodeKey) => JSON.stringify({ node_key: nodeKey }),
    })
    if (answer.outcome !== 'success' || lifetime.isOver()) return
    counters.distributedReadsAcknowledged += 1
    const work = parseDistributedWork(answer.body)
    if (work.rejection !== undefined) {
      counters.batchesDiscarded += 1
      this.#context.logStatus(1, work.rejection)
    }
    this.#accept(work)
  }

  #accept(work: DistributedWork): void {
    const { counters, scheduler, state } = this.#context
    const discovered = this.#discover(work.discovery)
    if (discovered === undefined) return
    const requiresAll = this.#context.flags().quirks.requiresDiscoveryForEveryQuery
    for (const [id, sql] of work.queries) {
      const isUnconditional = !work.discovery.has(id) && !(requiresAll && work.discovery.size > 0)
      if (!isUnconditional && !discovered.has(id)) continue
      counters.queriesReceived += 1
      state.pendingQueries.set(id, sql)
    }
    if (work.accelerateSeconds !== undefined) {
      state.accelerateUntilSeconds = unixTime(scheduler) + work.accelerateSeconds
    }
    if (work.hasInvalidAcceleration) {
      this.#context.logStatus(1, 'Failed to Accelerate: Timeframe is not an integer')
    }
  }

  /** The ids whose discovery query returned a row; undefined when one failed. */
  #discover(discovery: ReadonlyMap<string, string>): Set<string> | undefined {
    const discovered = new Set<string>()
    for (const [id, sql] of discovery) {
      const result = this.#context.tables.query(sql)
      if (result.outcome === 'error') {
        this.#context.counters.batchesDiscarded += 1
        this.#context.logStatus(1, 'Distributed discovery query has an SQL error')
        return undefined
      }
      if (result.rows.length > 0) discovered.add(id)
    }
    return discovered
  }

  #runPending(): void {
    const { lifetime, state } = this.#context
    this.#expireRunningQueries()
    for (const [id, sql] of state.pendingQueries) {
      state.pendingQueries.delete(id)
      this.#runQuery(id, sql)
      if (lifetime.isOver()) return
    }
  }

  #expireRunningQueries(): void {
    const { scheduler, state } = this.#context
    const expirySeconds = unixTime(scheduler) - this.#context.flags().distributedDenylistSeconds
    for (const [hash, startedAt] of state.runningQueries) {
      if (startedAt <= expirySeconds) state.runningQueries.delete(hash)
    }
  }

  #runQuery(id: string, sql: string): void {
    const { counters, scheduler, state, tables } = this.#context
    const hash = hashSql(sql)
    if (state.runningQueries.has(hash)) {
      counters.queriesDenylisted += 1
      this.#addResult({ id, rows: [], status: 1, message: DENYLISTED_MESSAGE, wallTimeMs: 0 })
      return
    }
    state.runningQueries.set(hash, unixTime(scheduler))
    if (this.#context.crashesOn(sql)) {
      this.#context.crash()
      return
    }
    const startMs = performance.now()
    const result = tables.query(sql)
    const wallTimeMs = Math.round(performance.now() - startMs)
    state.runningQueries.delete(hash)
    counters.queriesRun += 1
    if (result.outcome === 'rows') {
      this.#addResult({ id, rows: result.rows, status: 0, message: '', wallTimeMs })
      return
    }
    counters.queriesFailed += 1
    const { status, message } = result
    this.#addResult({ id, rows: [], status, message, wallTimeMs })
  }

  #addResult(result: QueryResult): void {
    this.#context.counters.resultsQueued += 1
    this.#results.push(result)
  }

  async #flushCompleted(): Promise<void> {
    const { counters, lifetime } = this.#context
    const sent = this.#results
    if (sent.length === 0 || lifetime.isOver()) return
    counters.resultsSent += sent.length
    const answer = await this.#requester.sendWithAttempts({
      path: this.#context.flags().paths.distributedWrite,
      renderBody: (nodeKey) =>
        JSON.stringify({ node_key: nodeKey, ...renderResults(sent, this.#context) }),
    })
    if (answer.outcome !== 'success' || lifetime.isOver()) return
    counters.resultsAcknowledged += sent.length
    this.#results = []
  }

  #intervalMs(): number {
    const { scheduler, state } = this.#context
    if (state.accelerateUntilSeconds >= unixTime(scheduler)) return ACCELERATED_INTERVAL_MS
    return this.#context.flags().distributedIntervalSeconds * SECOND_MS
  }
}

/** Makes the runner of one agent. */
export function createDistributedRunner(
  context: AgentContext,
  requester: AgentRequester,
): DistributedRunner {
  return new TlsDistributedRunner(context, requester)
}
