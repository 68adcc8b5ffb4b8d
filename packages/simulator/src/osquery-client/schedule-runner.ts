/** Runs the queries of the configuration's schedule and logs what they find or what changed. */
import { SECOND_MS, unixTime } from './agent-context.ts'
import type { AgentContext } from './agent-context.ts'
import type { Row } from './agent-tables.ts'
import type { JsonObject } from './failure-contract.ts'
import type { LogForwarder } from './log-forwarder.ts'
import type { ScheduledQuery } from './query-schedule.ts'
import { diffRows } from './result-diff.ts'
import type { CancelTask } from '../scheduler.ts'

const DENYLIST_SECONDS = 86_400

export interface ScheduleRunner {
  /** Replaces the schedule; queries that stay the same keep their time. */
  apply(queries: readonly ScheduledQuery[]): void
  /** Denylists the query during which the last run of the agent crashed. */
  recoverFromCrash(): void
}

interface Slot {
  readonly query: ScheduledQuery
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

/** Makes the schedule of one agent. Intervals are splayed by `scheduleSplayPercent`. */
export function createScheduleRunner(context: AgentContext, log: LogForwarder): ScheduleRunner {
  const { lifetime, scheduler, state, tables } = context
  const slots = new Map<string, Slot>()

  function splayMs(query: ScheduledQuery): number {
    const share = context.flags().scheduleSplayPercent / 100
    const factor = 1 - share + 2 * share * context.random()
    return Math.max(1, Math.round(query.intervalSeconds * factor)) * SECOND_MS
  }

  function start(query: ScheduledQuery): void {
    const intervalMs = splayMs(query)
    const slot: Slot = { query, intervalMs, cancel: () => undefined }
    slot.cancel = lifetime.later(Math.ceil(context.random() * intervalMs), () => runSlot(slot))
    slots.set(query.name, slot)
  }

  function runSlot(slot: Slot): void {
    slot.cancel = lifetime.later(slot.intervalMs, () => runSlot(slot))
    runQuery(slot.query)
  }

  function runQuery(query: ScheduledQuery): void {
    const deniedUntil = state.scheduleDenylist.get(query.name) ?? 0
    if (query.canBeDenylisted && deniedUntil > unixTime(scheduler)) return
    state.executingQuery = query.name
    if (context.crashesOn(query.sql)) {
      context.crash()
      return
    }
    const result = tables.query(query.sql)
    state.executingQuery = undefined
    if (result.outcome === 'error') {
      context.logStatus(2, `Error executing scheduled query ${query.name}: ${result.message}`)
      return
    }
    const rows = result.rows.map(truncate)
    if (query.isSnapshot) logSnapshot(query, rows)
    else logChanges(query, rows)
  }

  function truncate(row: Row): Row {
    const charactersMax = context.flags().columnCharactersMax
    const cells = Object.entries(row).map(([name, value]) => [name, value.slice(0, charactersMax)])
    return Object.fromEntries(cells) as Row
  }

  function envelope(query: ScheduledQuery, epoch: number, counter: number): JsonObject {
    const { decorations } = context
    return {
      name: query.name,
      hostIdentifier: context.hostIdentifier,
      calendarTime: toCalendarTime(scheduler.nowMs()),
      unixTime: unixTime(scheduler),
      epoch,
      counter,
      numerics: false,
      ...(Object.keys(decorations).length === 0 ? {} : { decorations: { ...decorations } }),
    }
  }

  function append(line: JsonObject): void {
    log.append('result', JSON.stringify(line))
  }

  function logSnapshot(query: ScheduledQuery, rows: Row[]): void {
    const epoch = context.flags().scheduleEpoch
    append({ ...envelope(query, epoch, 0), snapshot: rows, action: 'snapshot' })
  }

  function logChanges(query: ScheduledQuery, rows: Row[]): void {
    const epoch = context.flags().scheduleEpoch
    const earlier = state.queryHistories.get(query.name)
    const isInitial = earlier?.epoch !== epoch
    const counter = isInitial ? 0 : earlier.counter + 1
    const diff = diffRows(isInitial ? new Map() : earlier.rows, rows)
    state.queryHistories.set(query.name, { epoch, counter, rows: diff.rows })
    const removed = query.logsRemoved ? diff.removed : []
    if (diff.added.length + removed.length === 0) return
    const head = envelope(query, epoch, counter)
    if (!context.flags().logsResultsAsEvents) {
      append({ ...head, diffResults: { added: diff.added, removed } })
      return
    }
    for (const columns of removed) append({ ...head, columns, action: 'removed' })
    for (const columns of diff.added) append({ ...head, columns, action: 'added' })
  }

  return {
    apply(queries) {
      const wanted = new Map(queries.map((query) => [query.name, query]))
      for (const [name, slot] of slots) {
        const query = wanted.get(name)
        const isSame =
          query?.sql === slot.query.sql && query.intervalSeconds === slot.query.intervalSeconds
        if (isSame) {
          wanted.delete(name)
          continue
        }
        slot.cancel()
        slots.delete(name)
        if (query === undefined) state.queryHistories.delete(name)
      }
      for (const query of wanted.values()) start(query)
    },
    recoverFromCrash() {
      if (state.executingQuery === undefined) return
      state.scheduleDenylist.set(state.executingQuery, unixTime(scheduler) + DENYLIST_SECONDS)
      context.logStatus(1, `Scheduled query may have failed: ${state.executingQuery}`)
      state.executingQuery = undefined
    },
  }
}
