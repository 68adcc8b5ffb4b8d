/*
 * Tells every process which topics have changed, by notifications of the database. What a process tells within
 * a moment is one notification: each that a transaction carries makes its commit wait for all other commits
 * that carry one. So nothing is told in the transaction itself; what a process that dies had not told is lost.
 * Does not own what topics there are, nor who hears of them.
 */
import type { QueryExecutorProvider } from 'kysely'
import { notifyAtOnce } from '../db/commit-notifier.ts'
import { ALL_TOPICS, collectionOf, TopicSet } from './topic-set.ts'

/** The channel of topics that have changed; the payload is a JSON array of topics. */
export const TOPICS_CHANNEL = 'live_topics'

/** The part of the notifier that those who change something need. */
export interface TopicSink {
  /** Call it once the change is durable: whoever hears of it reads at once. */
  tell(topics: readonly string[]): void
}

export interface TopicNotifierDependencies {
  readonly db: QueryExecutorProvider
  readonly logError: (error: unknown, message: string) => void
}

/** How long topics are gathered after the last notification. */
const INTERVAL_MS = 250
/** After a notification that failed. */
const RETRY_DELAY_MS = 2_000
const PAYLOAD_BYTES_MAX = 7_000

export class TopicNotifier implements TopicSink {
  readonly #dependencies: TopicNotifierDependencies
  #gathered = new TopicSet()
  #timer: NodeJS.Timeout | undefined
  /** On the steady clock of `performance.now()`. */
  #nextMs = -Infinity
  #sending: Promise<void> | undefined

  constructor(dependencies: TopicNotifierDependencies) {
    this.#dependencies = dependencies
  }

  tell(topics: readonly string[]): void {
    if (topics.length === 0) return
    this.#gathered.addAll(topics)
    if (this.#sending === undefined) this.#schedule()
  }

  /** Sends what was gathered. Never rejects. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#sending
    if (this.#gathered.isEmpty) return
    this.#sending = this.#send()
    await this.#sending
  }

  #schedule(): void {
    const delayMs = Math.max(0, this.#nextMs - performance.now())
    // A command that has nothing else to do need not wait for it: it flushes at its end.
    this.#timer ??= setTimeout(() => void this.flush(), delayMs).unref()
  }

  async #send(): Promise<void> {
    const topics = this.#gathered
    this.#gathered = new TopicSet()
    const { db, logError } = this.#dependencies
    let pauseMs = INTERVAL_MS
    try {
      await notifyAtOnce(db, new Map([[TOPICS_CHANNEL, new Set([toPayload(topics)])]]))
    } catch (error) {
      pauseMs = RETRY_DELAY_MS
      this.#gathered.addAll(topics.list())
      logError(error, 'changed topics could not be told')
    }
    this.#nextMs = performance.now() + pauseMs
    this.#sending = undefined
    if (!this.#gathered.isEmpty) this.#schedule()
  }
}

function toPayload(topics: TopicSet): string {
  const named = topics.list()
  const text = JSON.stringify(named)
  if (Buffer.byteLength(text) <= PAYLOAD_BYTES_MAX) return text
  return JSON.stringify(new TopicSet(named.map(collectionOf)).list())
}

/** The topics of a notification; `all` for a text that is none. */
export function parseTopics(payload: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(payload)
    if (Array.isArray(value) && value.every((topic) => typeof topic === 'string')) return value
  } catch {
    // What cannot be read may have named anything.
  }
  return [ALL_TOPICS]
}
