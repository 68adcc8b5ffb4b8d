/*
 * Tells every process which topics have changed: what a process gathers within a moment is one notification, after
 * the commits (commit-notifier.ts). What a process that dies had not told is lost. Does not own what topics there are,
 * nor who hears of them.
 */
import type { CommitSink } from '../db/commit-notifier.ts'
import { ALL_TOPICS, collectionOf, TopicSet } from './topic-set.ts'

/** The channel of topics that have changed; the payload is a JSON array of topics. */
export const TOPICS_CHANNEL = 'live_topics'

/** The part of the notifier that those who change something need. */
export interface TopicSink {
  /** Call it once the change is durable: whoever hears of it reads at once. */
  tell(topics: readonly string[]): void
}

/** How long topics are gathered after the last notification. */
const INTERVAL_MS = 250
const PAYLOAD_BYTES_MAX = 7_000

export class TopicNotifier implements TopicSink {
  readonly #sink: CommitSink
  #gathered = new TopicSet()
  #timer: NodeJS.Timeout | undefined
  /** On the steady clock of `performance.now()`. */
  #nextMs = -Infinity

  constructor(sink: CommitSink) {
    this.#sink = sink
  }

  tell(topics: readonly string[]): void {
    if (topics.length === 0) return
    this.#gathered.addAll(topics)
    const delayMs = Math.max(0, this.#nextMs - performance.now())
    // A command that has nothing else to do need not wait for it: it flushes at its end.
    this.#timer ??= setTimeout(() => this.flush(), delayMs).unref()
  }

  /** Gives what was gathered to the notifier. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#gathered.isEmpty) return
    const topics = this.#gathered
    this.#gathered = new TopicSet()
    this.#nextMs = performance.now() + INTERVAL_MS
    this.#sink.tell(TOPICS_CHANNEL, [toPayload(topics)])
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
