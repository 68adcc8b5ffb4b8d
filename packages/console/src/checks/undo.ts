/*
 * What a configuration was before the last change that was made in this browser, by the revision that the change
 * led to: a later change by anybody else has another revision, and is not undone by accident.
 */
import type { Wanted } from './strategy-form.tsx'

const kept = new Map<string, Wanted>()

/** Keeps what was before a change. */
export function keepForUndo(checkId: string, revision: string, before: Wanted): void {
  kept.clear()
  kept.set(`${checkId} ${revision}`, before)
}

/** What was before, while the change is the last one. */
export function takeForUndo(checkId: string, revision: string): Wanted | undefined {
  return kept.get(`${checkId} ${revision}`)
}
