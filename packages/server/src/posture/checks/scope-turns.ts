import type { RunChange } from '../../changes/change.ts'
import { createBoundedWork } from '../../platform/bounded-work.ts'
import { SECOND_MS } from '../../platform/clock.ts'

/** Whoever waits gets its turn as long as one before it may take. */
const TURNS = { runningMax: 1, waitingMax: 100, waitMaxMs: 30 * SECOND_MS } as const

/**
 * Runs changes of the scope of checks that requests ask for, one after the other. Each holds the scope from its
 * beginning, so more at once would only wait for that, and every one with a connection that others need. All of a
 * process have to be run by the same one.
 */
export function runInScopeTurns(runChange: RunChange): RunChange {
  const turns = createBoundedWork(TURNS)
  return (origin, work) => turns.run(() => runChange(origin, work))
}
