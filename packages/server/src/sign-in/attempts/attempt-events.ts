/*
 * Attempts as those who watch them hear of them: one listener of a process for all its connections. A notification is a
 * hint; what is shown is read anew.
 */
import { PassThrough, type Readable } from 'node:stream'
import { SECOND_MS } from '../../platform/clock.ts'
import { KeyedWatchers } from '../../platform/keyed-watchers.ts'
import { SharedRun } from '../../platform/shared-run.ts'

/** As many pages as somebody has open of one sign-in. */
export const STREAMS_PER_ATTEMPT_MAX = 4

/** Those who watch attempts in this process. */
export interface AttemptWatch {
  /** Called with the payload of each notification. */
  readonly hear: (payload: string) => void
  /** Notifications may have been missed. */
  readonly hearAll: () => void
  /** Calls `look` at each change of an attempt until the answer is called. */
  readonly watch: (attemptId: string, look: () => void) => () => void
  /** Ends every stream. */
  readonly end: () => void
  /** Adds a stream of an attempt, that ends with the process; of too many of one attempt the first ends. */
  readonly addStream: (attemptId: string, stream: PassThrough) => void
}

export function createAttemptWatch(): AttemptWatch {
  const watchers = new KeyedWatchers()
  const streams = new Map<string, Set<PassThrough>>()
  return {
    hear: (payload) => watchers.hear(readId(payload)),
    hearAll: () => watchers.hearAll(),
    watch: (attemptId, look) => watchers.watch(attemptId, look),
    end: () => {
      for (const some of streams.values()) for (const stream of some) stream.end()
    },
    addStream: (attemptId, stream) => {
      const own = streams.get(attemptId) ?? new Set()
      const [first] = own
      if (own.size >= STREAMS_PER_ATTEMPT_MAX) first?.end()
      streams.set(attemptId, own.add(stream))
      stream.once('close', () => {
        own.delete(stream)
        if (own.size === 0 && streams.get(attemptId) === own) streams.delete(attemptId)
      })
    },
  }
}

function readId(payload: string): string {
  try {
    return String((JSON.parse(payload) as { readonly id?: unknown }).id)
  } catch {
    return ''
  }
}

const HEARTBEAT_MS = 15 * SECOND_MS
/** Of a change that was not told: the process that made it died right then. */
const LOOK_INTERVAL_MS = 5 * SECOND_MS

/** An attempt as it is shown. */
interface ShownState {
  readonly revision: number
  readonly json: object
  /** The device is known, and somebody is to decide. */
  readonly isUndecided: boolean
  readonly isOver: boolean
}

/** How an attempt is read, undefined when it is gone; and how it goes on. */
interface AttemptSteps {
  readonly read: () => Promise<ShownState | undefined>
  /** Far cheaper than all that is shown. */
  readonly readRevision: () => Promise<number | undefined>
  /** Goes on with an attempt of which nobody has decided yet; may take as long as its device does. Never rejects. */
  readonly proceed: () => Promise<void>
}

/**
 * The states of an attempt as server-sent events, one line of JSON each: at once, and at each change until the attempt
 * has ended, as `read` gives them. WHATWG HTML section 9.2. Meanwhile the attempt goes on: whoever decided about its
 * device may have died before anything else was done, and whoever tried to go on may have failed.
 */
export function streamAttempt(
  watch: AttemptWatch,
  attemptId: string,
  { read, readRevision, proceed }: AttemptSteps,
): Readable {
  const stream = new PassThrough()
  watch.addStream(attemptId, stream)
  let sent = ''
  let revision: number | undefined
  let isStale = true
  let isUndecided = true
  let isProceeding = false
  const looks = new SharedRun(look)
  const stop = watch.watch(attemptId, () => {
    isStale = true
    void looks.again()
  })
  // A database that is slow is not asked the more for it.
  const lookingAgain = setInterval(() => {
    void goOn()
    void looks.again()
  }, LOOK_INTERVAL_MS)
  lookingAgain.unref()
  const heartbeat = setInterval(() => stream.write(':\n\n'), HEARTBEAT_MS)
  heartbeat.unref()
  stream.once('close', () => {
    clearInterval(heartbeat)
    clearInterval(lookingAgain)
    stop()
  })
  async function goOn(): Promise<void> {
    if (!isUndecided || isProceeding) return
    isProceeding = true
    await proceed()
    isProceeding = false
  }
  async function look(): Promise<void> {
    const known = revision
    if (isStale || (await readRevision().catch(() => known)) !== known) await show()
  }
  async function show(): Promise<void> {
    isStale = false
    const state = await read().catch(() => 'unknown' as const)
    if (stream.destroyed || stream.writableEnded) return
    // As while the database is away: what is shown stays, and is looked at again.
    isStale ||= state === 'unknown'
    if (state === 'unknown' && sent !== '') return
    if (state === undefined || state === 'unknown') return void stream.end()
    revision = state.revision
    isUndecided = state.isUndecided
    const text = JSON.stringify(state.json)
    if (text !== sent) stream.write(`data: ${text}\n\n`)
    sent = text
    if (state.isOver) stream.end()
  }
  void goOn()
  void looks.again()
  return stream
}
