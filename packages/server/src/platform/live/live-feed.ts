/*
 * Tells those who watch which topics have changed, as server-sent events (HTML, section 9.2). One for a
 * process: it hears each notification once, gathers what comes within a second, and writes the same text to
 * every watcher who may hear all of it. Keeps what it told for a while, so that a watcher who was cut off goes on where
 * it stopped. Bounded in all: watchers, what is kept, what waits for a slow reader.
 */
import type { Readable } from 'node:stream'
import { AppError } from '../app-error.ts'
import { SECOND_MS } from '../clock.ts'
import { newUuid } from '../ids.ts'
import { ALL_TOPICS, TopicSet } from './topic-set.ts'
import { Watcher, type WatchRequest } from './watcher.ts'

export interface LiveFeedSettings {
  /** At most one message in so long. */
  readonly intervalMs: number
  /** So often a comment is sent, and every watcher asked whether it still may watch. */
  readonly heartbeatMs: number
  /** A watcher who has read nothing for so long is cut off. */
  readonly stalledMs: number
  readonly watchersMax: number
  readonly watchersOfOneMax: number
}

export const DEFAULT_LIVE_SETTINGS: LiveFeedSettings = {
  intervalMs: SECOND_MS,
  heartbeatMs: 15 * SECOND_MS,
  stalledMs: 60 * SECOND_MS,
  watchersMax: 1_000,
  watchersOfOneMax: 10,
}

/** As many messages are kept for those who come back: some minutes of a busy fleet. */
const MESSAGES_KEPT_MAX = 200
/** After so long a browser that was cut off tries again. */
const RETRY_MS = 2 * SECOND_MS
/** After so long a caller who has too many connections may try again. */
const RETRY_AFTER_SECONDS = 30

interface Message {
  readonly number: number
  readonly topics: readonly string[]
}

/** Nothing runs before the first topic or watcher, nor after `end`. */
export class LiveFeed {
  readonly #settings: LiveFeedSettings
  /** Tells the places of this process from those of others, and from those of its former lives. */
  readonly #id = newUuid().slice(0, 8)
  readonly #watchers = new Set<Watcher>()
  readonly #kept: Message[] = []
  #lastNumber = 0
  #lastTopics: readonly string[] = []
  #lastText = ''
  #gathered = new TopicSet()
  #toldMs = -Infinity
  #tellTimer: NodeJS.Timeout | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #isAskDue = false
  #isAsking = false
  #isEnded = false

  constructor(settings: LiveFeedSettings = DEFAULT_LIVE_SETTINGS) {
    this.#settings = settings
  }

  get watcherCount(): number {
    return this.#watchers.size
  }

  /** Tells every watcher soon that these have changed. */
  hear(topics: readonly string[]): void {
    if (this.#isEnded || topics.length === 0) return
    this.#gathered.addAll(topics)
    const delayMs = Math.max(0, this.#toldMs + this.#settings.intervalMs - performance.now())
    this.#tellTimer ??= setTimeout(() => this.#tell(), delayMs)
  }

  /**
   * The events of a new watcher, from where it stopped. It leaves by destroying the stream.
   *
   * @throws AppError `unavailable` while the service stops or serves as many as it can; `rate_limited` when
   * this caller has too many connections
   */
  watch(request: WatchRequest): Readable {
    this.#assertRoom(request.watcherKey)
    const watcher: Watcher = new Watcher(request, this.#readPlace(request.lastEventId), {
      onReady: () => this.#bringUpToDate(watcher),
      onClose: () => this.#leave(watcher),
    })
    this.#watchers.add(watcher)
    this.#heartbeat ??= setInterval(() => this.#beat(), this.#settings.heartbeatMs)
    const place = this.#placeOf(this.#lastNumber)
    watcher.send(`retry: ${RETRY_MS}\nid: ${place}\nevent: ready\ndata: {}\n\n`)
    this.#bringUpToDate(watcher)
    if (request.watchMaxMs !== undefined) watcher.closeAfter(request.watchMaxMs)
    return watcher.stream
  }

  /** Asks every watcher now whether it still may watch, and closes those that may not. */
  askAgain(): void {
    this.#isAskDue = true
    if (!this.#isAsking) void this.#askAll()
  }

  /** Closes every watcher; new ones are refused. */
  end(): void {
    this.#isEnded = true
    clearTimeout(this.#tellTimer)
    clearInterval(this.#heartbeat)
    for (const watcher of this.#watchers) watcher.close()
  }

  #assertRoom(key: string): void {
    const { watchersMax, watchersOfOneMax } = this.#settings
    if (this.#isEnded) throw new AppError('unavailable', 'The service is stopping.')
    if (this.#watchers.size >= watchersMax) {
      throw new AppError('unavailable', 'As many connections watch as this process serves.')
    }
    const own = [...this.#watchers].filter((watcher) => watcher.key === key)
    if (own.length >= watchersOfOneMax) {
      const message = `At most ${watchersOfOneMax} connections of one caller can watch at a time.`
      throw new AppError('rate_limited', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
    }
  }

  #leave(watcher: Watcher): void {
    this.#watchers.delete(watcher)
    if (this.#watchers.size > 0) return
    clearInterval(this.#heartbeat)
    this.#heartbeat = undefined
  }

  #tell(): void {
    this.#tellTimer = undefined
    this.#toldMs = performance.now()
    this.#lastNumber += 1
    const message = { number: this.#lastNumber, topics: this.#gathered.list() }
    this.#gathered = new TopicSet()
    this.#lastTopics = message.topics
    this.#lastText = this.#write(message.topics)
    this.#kept.push(message)
    if (this.#kept.length > MESSAGES_KEPT_MAX) this.#kept.shift()
    for (const watcher of this.#watchers) this.#bringUpToDate(watcher)
  }

  /**
   * One message for all that a watcher has missed and may hear; nothing for one that is behind with its reading.
   */
  #bringUpToDate(watcher: Watcher): void {
    const { toldUpTo } = watcher
    if (watcher.isBehind || toldUpTo === this.#lastNumber) return
    watcher.toldUpTo = this.#lastNumber
    const isNextOnly = toldUpTo === this.#lastNumber - 1
    const topics = isNextOnly ? this.#lastTopics : this.#topicsAfter(toldUpTo)
    const heard = topics.filter((topic) => watcher.mayHear(topic))
    if (heard.length === 0) return
    const isLast = isNextOnly && heard.length === topics.length
    watcher.send(isLast ? this.#lastText : this.#write(heard))
  }

  #beat(): void {
    for (const watcher of this.#watchers) {
      if (watcher.behindForMs() > this.#settings.stalledMs) watcher.stream.destroy()
      else if (!watcher.isBehind) watcher.send(': still here\n\n')
    }
    this.askAgain()
  }

  async #askAll(): Promise<void> {
    this.#isAsking = true
    while (this.#isAskDue) {
      this.#isAskDue = false
      for (const watcher of [...this.#watchers]) {
        const mayWatch = await watcher.mayWatch().catch(() => true)
        if (!mayWatch) watcher.close('event: ended\ndata: {}\n\n')
      }
    }
    this.#isAsking = false
  }

  #topicsAfter(number: number): readonly string[] {
    const firstKept = this.#kept[0]?.number ?? this.#lastNumber + 1
    if (number < firstKept - 1) return [ALL_TOPICS]
    const missed = this.#kept.filter((message) => message.number > number)
    return new TopicSet(missed.flatMap(({ topics }) => topics)).list()
  }

  #placeOf(number: number): string {
    return `${this.#id}-${number}`
  }

  /** Up to where a watcher has been told; before everything, when its place is not one of this process. */
  #readPlace(lastEventId: string | undefined): number {
    if (lastEventId === undefined || lastEventId === '') return this.#lastNumber
    const [id, digits = ''] = lastEventId.split('-')
    const number = /^\d{1,15}$/.test(digits) ? Number(digits) : Infinity
    return id === this.#id && number <= this.#lastNumber ? number : UNKNOWN_PLACE
  }

  #write(topics: readonly string[]): string {
    const place = this.#placeOf(this.#lastNumber)
    return `id: ${place}\nevent: changed\ndata: ${JSON.stringify({ topics })}\n\n`
  }
}

/** Before every number, the first one's predecessor included: whoever stopped there has missed all. */
const UNKNOWN_PLACE = -Infinity
