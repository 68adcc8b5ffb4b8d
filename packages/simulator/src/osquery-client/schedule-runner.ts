/** Runs the queries of the configuration's schedule and logs what they find or what changed. */
import { SECOND_MS, unixTime } from './agent-context.ts'
import type { AgentContext } from './agent-context.ts'
import type { Row } from './agent-tables.ts'
import type { JsonObject } from './failure-contract.ts'
import type { LogForwarder } from './log-forwarder.ts'
import type { QueryHistory } from './node-state.ts'
import type { ScheduledQuery } from './query-schedule.ts'
import { diffRows } from './result-diff.ts'
import type { CancelTask } from '../scheduler.ts'

const DENYLIST_SECONDS = 86_400
const NO_ROWS: QueryHistory['rows'] = new Map()

export interface ScheduleRunner {
  /** Replaces the schedule; a query keeps its time unless its interval changes. */
  apply(queries: readonly ScheduledQuery[]): void
  /** Denylists the query during which the last run of the agent crashed. */
  recoverFromCrash(): void
}

interface Slot {
  query: ScheduledQuery
  readonly intervalMs: number
  cancel: CancelTask
}

/** The time as osquery writes `calendarTime`: asctime in UTC. */
export function toCalendarTime(timeMs: number): string {
  const [day = '', date = '', month = '', year = '', time = ''] = new Date(timeMs)
    .toUTCString()
    .replace(',', '')
    .split(' ')
  return `${day} ${month} ${date.replace(/^0/, ' ')} ${time} ${year} UTC`
}

class SplayedScheduleRunner implements ScheduleRunner {
  readonly #context: AgentContext
  readonly #log: LogForwarder
  readonly #beforeQuery: () => void
  readonly #slots = new Map<string, Slot>()

  constructor(context: AgentContext, log: LogForwarder, beforeQuery: () => void) {
    this.#context = context
    this.#log = log
    this.#beforeQuery = beforeQuery
  }

  apply(queries: readonly ScheduledQuery[]): void {
    const wanted = new Map(queries.map((query) => [query.name, query]))
    for (const [name, slot] of this.#slots) {
      const query = wanted.get(name)
      if (query?.intervalSeconds === slot.query.intervalSeconds) {
        slot.query = query
        wanted.delete(name)
        continue
      }
      slot.cancel()
      this.#slots.delete(name)
      if (query === undefined) this.#context.state.queryHistories.delete(name)
    }
    for (const query of wanted.values()) this.#start(query)
  }

  recoverFromCrash(): void {
    const { scheduler, state } = this.#context
    const name = state.executingQuery
    if (name === undefined) return
    state.executingQuery = undefined
    state.scheduleDenylist.set(name, unixTime(scheduler) + DENYLIST_SECONDS)
    this.#context.logStatus(1, `Scheduled query may have failed: ${name}`)
  }

  #start(query: ScheduledQuery): void {
    const { lifetime, random } = this.#context
    const share = this.#context.flags().scheduleSplayPercent / 100
    const factor = 1 - share + 2 * share * random()
    const intervalMs = Math.max(1, Math.round(query.intervalSeconds * factor)) * SECOND_MS
    const slot: Slot = { query, intervalMs, cancel: () => undefined }
    slot.cancel = lifetime.later(Math.ceil(random() * intervalMs), () => this.#runSlot(slot))
    this.#slots.set(query.name, slot)
  }

  #runSlot(slot: Slot): void {
    slot.cancel = this.#context.lifetime.later(slot.intervalMs, () => this.#runSlot(slot))
    this.#runQuery(slot.query)
  }

  #runQuery(query: ScheduledQuery): void {
    const { scheduler, state, tables } = this.#context
    const deniedUntil = state.scheduleDenylist.get(query.name) ?? 0
    if (query.canBeDenylisted && deniedUntil > unixTime(scheduler)) return
    this.#beforeQuery()
    state.executingQuery = query.name
    if (this.#context.crashesOn(query.sql)) {
      this.#context.crash()
      return
    }
    const result = tables.query(query.sql)
    state.executingQuery = undefined
    if (result.outcome === 'error') {
      const message = `Error executing scheduled query ${query.name}: ${result.message}`
      this.#context.logStatus(2, message)
      return
    }
    const charactersMax = this.#context.flags().columnCharactersMax
    const rows = result.rows.map((row) => truncateRow(row, charactersMax))
    if (query.isSnapshot) this.#logSnapshot(query, rows)
    else this.#logChanges(query, rows)
  }

  #envelope(query: ScheduledQuery, epoch: number, counter: number): JsonObject {
    const { decorations, hostIdentifier, scheduler } = this.#context
    return {
      name: query.name,
      hostIdentifier,
      calendarTime: toCalendarTime(scheduler.nowMs()),
      unixTime: unixTime(scheduler),
      epoch,
      counter,
      numerics: false,
      ...(Object.keys(decorations).length === 0 ? {} : { decorations: { ...decorations } }),
    }
  }

  #append(line: JsonObject): void {
    this.#log.append('result', JSON.stringify(line))
  }

  #logSnapshot(query: ScheduledQuery, rows: Row[]): void {
    const epoch = this.#context.flags().scheduleEpoch
    this.#append({ ...this.#envelope(query, epoch, 0), snapshot: rows, action: 'snapshot' })
  }

  #logChanges(query: ScheduledQuery, rows: Row[]): void {
    const { state } = this.#context
    const epoch = this.#context.flags().scheduleEpoch
    const stored = state.queryHistories.get(query.name)
    const earlier = stored?.epoch === epoch ? stored : undefined
    const counter = earlier === undefined ? 0 : earlier.counter + 1
    const diff = diffRows(earlier?.rows ?? NO_ROWS, rows)
    state.queryHistories.set(query.name, { epoch, counter, rows: diff.rows })
    const removed = query.logsRemoved ? diff.removed : []
    if (diff.added.length + removed.length === 0) return
    const head = this.#envelope(query, epoch, counter)
    if (!this.#context.flags().logsResultsAsEvents) {
      this.#append({ ...head, diffResults: { added: diff.added, removed } })
      return
    }
    for (const columns of removed) this.#append({ ...head, columns, action: 'removed' })
    for (const columns of diff.added) this.#append({ ...head, columns, action: 'added' })
  }
}

function truncateRow(row: Row, charactersMax: number): Row {
  const truncated: Row = {}
  for (const [name, value] of Object.entries(row)) truncated[name] = value.slice(0, charactersMax)
  return truncated
}

/**
 * Makes the schedule of one agent, which calls `beforeQuery` before each query that runs. Intervals are splayed by
 * `scheduleSplayPercent`.
 */
export function createScheduleRunner(
  context: AgentContext,
  log: LogForwarder,
  beforeQuery: () => void,
): ScheduleRunner {
  return new SplayedScheduleRunner(context, log, beforeQuery)
}
