import { toTimerMs } from '../request-limit.ts'
import { findGap, type SequenceGap, type StreamPosition } from './stream-position.ts'

/** Notices when a gap stays open. */
export interface GapWatch {
  /** Told how far the stream has come, after each change. */
  update(position: StreamPosition): void
  close(): void
}

/** What a gap watch works with. */
export interface GapWatchOptions {
  /** How long a gap may stay open, in milliseconds, and the shortest pause between two attempts to close it. */
  readonly graceMs: number
  /** Told of a gap that stays open; resolves when it was dealt with. */
  readonly onGap: (gap: SequenceGap) => Promise<void>
  readonly onError: (error: unknown) => void
}

/** The first pause after an attempt that left a gap open, where a gap may stay open for less; it doubles each time. */
const PAUSE_MS = 1_000
const DOUBLINGS_MAX = 6

/**
 * Creates a gap watch. Deliveries that overtake one another make gaps that close by themselves.
 *
 * @throws TypeError when the time is none.
 */
export function createGapWatch({ graceMs, onGap, onError }: GapWatchOptions): GapWatch {
  toTimerMs(graceMs)
  let gap: SequenceGap | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  /** How many attempts have left the gap open. */
  let failures = 0
  let isDealing = false
  let isClosed = false

  function wait(): void {
    if (gap === undefined || isDealing || isClosed) return
    const pauseMs = failures === 0 ? 0 : PAUSE_MS * 2 ** Math.min(failures - 1, DOUBLINGS_MAX)
    timer ??= setTimeout(
      () => {
        timer = undefined
        if (gap !== undefined) void dealWith(gap)
      },
      toTimerMs(Math.max(graceMs, pauseMs)),
    )
    letProcessEnd(timer)
  }

  async function dealWith(open: SequenceGap): Promise<void> {
    isDealing = true
    try {
      await onGap(open)
    } catch (error) {
      if (!isClosed) onError(error)
    }
    isDealing = false
    if (gap?.from === open.from) failures += 1
    wait()
  }

  return {
    update(position) {
      const first = findGap(position)
      // Another gap has its own time to close by itself.
      if (first?.from !== gap?.from) {
        clearTimeout(timer)
        timer = undefined
        failures = 0
      }
      gap = first
      wait()
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

/** A gap that is open is so after a restart too. Timers of other runtimes are numbers, and keep no process. */
function letProcessEnd(timer: number | { readonly unref?: () => unknown }): void {
  if (typeof timer === 'object') timer.unref?.()
}
