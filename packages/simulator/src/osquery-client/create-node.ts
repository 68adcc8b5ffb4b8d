/**
 * One simulated osquery agent, put together from its parts: enrollment, configuration, logger,
 * schedule and distributed queries. It behaves like osquery's C++ client, not like a convenient one.
 */
import { SECOND_MS, unixTime } from './agent-context.ts'
import type { AgentContext, Severity } from './agent-context.ts'
import type { AgentTables } from './agent-tables.ts'
import { createConfigRefresher } from './config-refresher.ts'
import { createDecorators } from './decorators.ts'
import { createDistributedRunner } from './distributed-runner.ts'
import { createEnrollment } from './enrollment.ts'
import type { JsonObject } from './failure-contract.ts'
import { createLifetime } from './lifetime.ts'
import type { Lifetime } from './lifetime.ts'
import { createLogForwarder } from './log-forwarder.ts'
import type { LogForwarder } from './log-forwarder.ts'
import { createCounters } from './node-counters.ts'
import type { NodeCounters } from './node-counters.ts'
import { DEFAULT_FLAGS } from './node-options.ts'
import type { AgentFlags } from './node-options.ts'
import { createNodeState } from './node-state.ts'
import type { NodeState } from './node-state.ts'
import { parseSchedule } from './query-schedule.ts'
import { createScheduleRunner, toCalendarTime } from './schedule-runner.ts'
import { createAgentRequester } from './tls-request.ts'
import type { AgentRequester } from './tls-request.ts'
import type { Transport } from './transport.ts'
import type { Platform } from '../platform.ts'
import type { Random } from '../random.ts'
import type { CancelTask, Scheduler } from '../scheduler.ts'

export interface CreateNodeOptions {
  readonly transport: Transport
  readonly scheduler: Scheduler
  /** Read whenever the agent starts. */
  readonly enrollSecret: string
  readonly hostIdentifier: string
  readonly platform: Platform
  readonly tables: AgentTables
  readonly random?: Random
  readonly flags?: Partial<AgentFlags>
  /** The disk of an agent that ran before; empty by default. */
  readonly state?: NodeState
  /** SQL that makes the agent process die while it runs it. */
  readonly crashesOn?: (sql: string) => boolean
  /** Milliseconds until a crashed agent is started again by its watchdog. */
  readonly restartDelayMs?: number
}

/** A simulated agent. */
export interface OsqueryNode {
  readonly hostIdentifier: string
  readonly platform: Platform
  readonly state: NodeState
  readonly counters: NodeCounters
  readonly tables: AgentTables
  readonly isRunning: boolean
  /** Starts the agent process; does nothing while it runs. */
  start(): void
  /** Stops the agent process. Its disk (`state`) stays as it is. */
  stop(): void
  /** Stops and starts again, as a restart of the service does. */
  restart(): void
  /** Logs a status line as the agent's own code would. */
  logStatus(severity: Severity, message: string): void
}

function renderStatusLine(
  options: CreateNodeOptions,
  flags: AgentFlags,
  decorations: JsonObject,
  entry: { severity: Severity; message: string },
): string {
  const nowMs = options.scheduler.nowMs()
  const hasStrings = flags.quirks.sendsStringStatuses
  const write = (value: number): string | number => (hasStrings ? String(value) : value)
  return JSON.stringify({
    hostIdentifier: options.hostIdentifier,
    calendarTime: toCalendarTime(nowMs),
    unixTime: write(unixTime(options.scheduler)),
    severity: write(entry.severity),
    filename: 'simulator.ts',
    line: write(1),
    message: entry.message,
    version: flags.agentVersion,
    ...(Object.keys(decorations).length === 0 ? {} : { decorations }),
  })
}

async function bootAgent(
  context: AgentContext,
  log: LogForwarder,
  requester: AgentRequester,
): Promise<void> {
  const decorators = createDecorators(context)
  const schedule = createScheduleRunner(context, log, () => decorators.runAlways())
  const config = createConfigRefresher(context, requester, (body) => {
    decorators.apply(body)
    const { agentVersion } = context.flags()
    const warn = (message: string): void => context.logStatus(1, message)
    schedule.apply(parseSchedule(body, { ...context, agentVersion, warn }))
  })
  schedule.recoverFromCrash()
  log.resume()
  const isConfigured = await config.fetch()
  if (context.lifetime.isOver()) return
  const loops = [config.keepFresh(isConfigured)]
  if (!context.flags().isDistributedDisabled) {
    loops.push(createDistributedRunner(context, requester).run())
  }
  await Promise.all(loops)
}

/**
 * Makes an agent; `start` begins its life. All waiting goes through `scheduler`, all traffic through
 * `transport`; both may be shared by any number of nodes.
 */
export function createNode(options: CreateNodeOptions): OsqueryNode {
  const state = options.state ?? createNodeState()
  const counters = createCounters()
  let lifetime: Lifetime | undefined
  let cancelRestart: CancelTask = () => undefined
  let appendStatus: ((severity: Severity, message: string) => void) | undefined

  function start(): void {
    if (lifetime !== undefined) return
    const life = createLifetime(options.scheduler)
    lifetime = life
    let flags: AgentFlags = { ...DEFAULT_FLAGS, ...options.flags }
    const decorations: JsonObject = {}
    if (flags.enrollsAlways) state.nodeKey = undefined
    const context: AgentContext = {
      hostIdentifier: options.hostIdentifier,
      platform: options.platform,
      enrollSecret: options.enrollSecret,
      scheduler: options.scheduler,
      random: options.random ?? Math.random,
      transport: options.transport,
      tables: options.tables,
      counters,
      lifetime: life,
      state,
      flags: () => flags,
      setFlags: (changes) => (flags = { ...flags, ...changes }),
      decorations,
      logStatus: (severity, message) => {
        log.append('status', renderStatusLine(options, flags, decorations, { severity, message }))
      },
      crashesOn: (sql) => options.crashesOn?.(sql) === true,
      crash,
    }
    const requester = createAgentRequester(context, createEnrollment(context))
    const log = createLogForwarder(context, requester)
    appendStatus = context.logStatus
    void bootAgent(context, log, requester)
  }

  function stop(): void {
    cancelRestart()
    lifetime?.end()
    lifetime = undefined
    appendStatus = undefined
  }

  function crash(): void {
    counters.crashes += 1
    stop()
    cancelRestart = options.scheduler.schedule(options.restartDelayMs ?? 5 * SECOND_MS, start)
  }

  return {
    hostIdentifier: options.hostIdentifier,
    platform: options.platform,
    state,
    counters,
    tables: options.tables,
    get isRunning() {
      return lifetime !== undefined
    },
    start,
    stop,
    restart() {
      stop()
      start()
    },
    logStatus: (severity, message) => appendStatus?.(severity, message),
  }
}
