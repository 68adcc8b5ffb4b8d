/**
 * Decorators: queries of the configuration whose first row goes with every log line. Mirrors
 * plugins/config/parsers/decorators.cpp.
 */
import { SECOND_MS } from './agent-context.ts'
import type { AgentContext } from './agent-context.ts'
import { isJsonObject } from './failure-contract.ts'
import type { JsonObject } from './failure-contract.ts'
import type { CancelTask } from '../scheduler.ts'

/** Intervals of decorators are whole minutes. */
const INTERVAL_STEP_SECONDS = 60

export interface Decorators {
  /** Replaces them with those of a new configuration: earlier decorations are gone, `load` ones run at once. */
  apply(config: JsonObject): void
  /** Runs the `always` ones, as comes before each scheduled query. */
  runAlways(): void
}

/** Makes the decorators of one agent; they write to the decorations of its context. */
export function createDecorators(context: AgentContext): Decorators {
  let always: readonly string[] = []
  let cancels: readonly CancelTask[] = []

  function run(statements: readonly string[]): void {
    for (const sql of statements) {
      const result = context.tables.query(sql)
      if (result.outcome === 'rows') Object.assign(context.decorations, result.rows[0])
    }
  }

  /** Runs whenever the time since the epoch is a multiple of the interval. */
  function runEvery(intervalMs: number, statements: readonly string[]): CancelTask {
    let cancel: CancelTask
    function wait(): void {
      const delayMs = intervalMs - (context.scheduler.nowMs() % intervalMs)
      cancel = context.lifetime.later(delayMs, () => {
        wait()
        run(statements)
      })
    }
    wait()
    return () => cancel()
  }

  function startInterval(name: string, statements: readonly string[]): CancelTask | undefined {
    const seconds = Number(name)
    if (seconds > 0 && seconds % INTERVAL_STEP_SECONDS === 0) {
      return runEvery(seconds * SECOND_MS, statements)
    }
    context.logStatus(1, `Invalid decorator interval rate ${name}`)
    return undefined
  }

  return {
    apply(config) {
      for (const cancel of cancels) cancel()
      for (const name of Object.keys(context.decorations)) {
        Reflect.deleteProperty(context.decorations, name)
      }
      const decorators = toObject(config['decorators'])
      always = toStatements(decorators['always'])
      cancels = Object.entries(toObject(decorators['interval']))
        .map(([name, list]) => startInterval(name, toStatements(list)))
        .filter((cancel) => cancel !== undefined)
      run(toStatements(decorators['load']))
    },
    runAlways: () => run(always),
  }
}

function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

function toStatements(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((sql) => typeof sql === 'string') : []
}
