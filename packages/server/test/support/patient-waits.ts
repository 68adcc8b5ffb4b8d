/*
 * Waits of tests end when what they wait for is there. How long they may take at most is for tests that
 * hang, so it is the same for all and far above what a busy machine needs.
 */
import { vi } from 'vitest'

const WAIT_MAX_MS = 90_000
const PATIENT = Symbol.for('heliograph.patient-waits')

type WaitOptions = number | { interval?: number; timeout?: number } | undefined

function toPatientOptions(options: WaitOptions): { interval: number; timeout: number } {
  const { interval = 25 } = typeof options === 'object' ? options : {}
  return { interval, timeout: WAIT_MAX_MS }
}

const shared = globalThis as { [PATIENT]?: true }
if (shared[PATIENT] === undefined) {
  shared[PATIENT] = true
  const { waitFor, waitUntil } = vi
  vi.waitFor = (check, options) => waitFor(check, toPatientOptions(options))
  vi.waitUntil = (check, options) => waitUntil(check, toPatientOptions(options))
}
