/*
 * Tells open pages that what they show has changed, as server-sent events (HTML, section 9.2). What a page shows is
 * read again and again and told only when it differs: a device's answer is written by any process, and nothing tells of
 * one that changes nothing. Bounded in pages, in their time, and in how often each is read.
 */
import { Readable } from 'node:stream'
import { AppError } from '../../platform/app-error.ts'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'

/** What a page shows, in short; a change of it is told. */
export interface WatchedState {
  readonly text: string
  /** Something is about to happen: it is looked at more often. */
  readonly isMoving: boolean
}

export interface WatchRequest {
  /** Whose page it is. */
  readonly key: string
  readonly read: () => Promise<WatchedState>
}

export interface WatchSettings {
  readonly movingMs: number
  readonly restingMs: number
  readonly lifetimeMs: number
  readonly watchersMax: number
  readonly watchersOfOneMax: number
}

/** A moving page costs three reads of a few indexed rows in a second. */
const DEFAULT_SETTINGS: WatchSettings = {
  movingMs: 330,
  restingMs: 2 * SECOND_MS,
  lifetimeMs: 15 * MINUTE_MS,
  watchersMax: 300,
  watchersOfOneMax: 6,
}

const RETRY_MS = 2 * SECOND_MS
const HEARTBEAT_MS = 15 * SECOND_MS

interface Watcher extends WatchRequest {
  readonly stream: Readable
  readonly endsAtMs: number
  timer: NodeJS.Timeout | undefined
  told: string | undefined
  toldAtMs: number
}

/** Nothing runs before the first page, nor after `end`. */
export class StateWatchers {
  readonly #settings: WatchSettings
  readonly #watchers = new Set<Watcher>()
  #isEnded = false

  constructor(settings: Partial<WatchSettings> = {}) {
    this.#settings = { ...DEFAULT_SETTINGS, ...settings }
  }

  /**
   * The events of a page: the state as it is, and each change of it. A page leaves by closing its stream.
   *
   * @throws AppError `unavailable`, `rate_limited` when as many pages are open as can be
   */
  watch(request: WatchRequest): Readable {
    this.#assertRoom(request.key)
    const nowMs = performance.now()
    const stream = new Readable({ read: () => undefined })
    const watcher: Watcher = {
      ...request,
      stream,
      endsAtMs: nowMs + this.#settings.lifetimeMs,
      timer: undefined,
      told: undefined,
      toldAtMs: nowMs,
    }
    this.#watchers.add(watcher)
    stream.once('close', () => this.#leave(watcher))
    stream.push(`retry: ${RETRY_MS}\n\n`)
    void this.#look(watcher)
    return stream
  }

  /** Closes every page's stream; new ones are refused. */
  end(): void {
    this.#isEnded = true
    for (const watcher of [...this.#watchers]) this.#close(watcher)
  }

  #assertRoom(key: string): void {
    const { watchersMax, watchersOfOneMax } = this.#settings
    if (this.#isEnded || this.#watchers.size >= watchersMax) {
      throw new AppError('unavailable', 'No more pages can be followed at the moment.')
    }
    const own = [...this.#watchers].filter((watcher) => watcher.key === key)
    if (own.length >= watchersOfOneMax) {
      throw new AppError('rate_limited', 'This page is open too many times.')
    }
  }

  async #look(watcher: Watcher): Promise<void> {
    const state = await watcher.read().catch(() => undefined)
    if (!this.#watchers.has(watcher)) return
    const nowMs = performance.now()
    // What cannot be read any more is over; the page asks and is told why.
    if (state === undefined || nowMs >= watcher.endsAtMs) {
      this.#close(watcher)
      return
    }
    if (state.text !== watcher.told) {
      watcher.told = state.text
      this.#send(watcher, `data: ${JSON.stringify({ state: state.text })}\n\n`)
    } else if (nowMs - watcher.toldAtMs > HEARTBEAT_MS) this.#send(watcher, ': still here\n\n')
    const { movingMs, restingMs } = this.#settings
    watcher.timer = setTimeout(
      () => void this.#look(watcher),
      state.isMoving ? movingMs : restingMs,
    )
  }

  #send(watcher: Watcher, text: string): void {
    watcher.toldAtMs = performance.now()
    watcher.stream.push(text)
  }

  #close(watcher: Watcher): void {
    this.#leave(watcher)
    watcher.stream.push(null)
  }

  #leave(watcher: Watcher): void {
    clearTimeout(watcher.timer)
    this.#watchers.delete(watcher)
  }
}
