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
  /** How long a gap may stay open, in milliseconds, and the pause between two attempts to close it. */
  readonly graceMs: number
  /** Told of a gap that stays open; resolves when it was dealt with. */
  readonly onGap: (gap: SequenceGap) => Promise<void>
  readonly onError: (error: unknown) => void
}

/**
 * Creates a gap watch. Deliveries that overtake one another make gaps that close by themselves.
 *
 * @throws TypeError when the time is none.
 */
export function createGapWatch({ graceMs, onGap, onError }: GapWatchOptions): GapWatch {
  const timerMs = toTimerMs(graceMs)
  let gap: SequenceGap | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isClosed = false

  function wait(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      if (gap !== undefined) void dealWith(gap)
    }, timerMs)
    letProcessEnd(timer)
  }

  async function dealWith(open: SequenceGap): Promise<void> {
    try {
      await onGap(open)
    } catch (error) {
      if (!isClosed) onError(error)
    }
    if (gap !== undefined && !isClosed) wait()
  }

  return {
    update(position) {
      const first = findGap(position)
      // Another gap has its own time to close by itself.
      if (first?.from !== gap?.from) {
        clearTimeout(timer)
        timer = undefined
      }
      gap = first
      if (gap !== undefined && !isClosed) wait()
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
