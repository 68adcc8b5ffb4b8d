/*
 * When what has changed is read again. A record that is open follows at once; lists, which change all the time
 * where there are many devices, follow at once and then every few seconds; what nobody sees waits until it is seen.
 */
import type { Query, QueryClient } from '@tanstack/react-query'

/** At least so long between two readings of lists. */
const LISTS_EVERY_MS = 3_000

/** What of the page is read again: records by their ids, or lists and everything else that holds many. */
type Part = 'records' | 'lists'

/** Gathers what live messages tell until it is time to read it again. End it when nobody listens any more. */
export class LiveChanges {
  readonly #queryClient: QueryClient
  readonly #waiting = { records: new Set<string>(), lists: new Set<string>() }
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(queryClient: QueryClient) {
    this.#queryClient = queryClient
    document.addEventListener('visibilitychange', this.#flush)
  }

  /** `devices` and `deliveries:12` name a resource and perhaps a record of it, `all` everything. */
  hear(topics: readonly string[]): void {
    for (const topic of topics) {
      this.#waiting.records.add(topic)
      this.#waiting.lists.add(topic)
    }
    this.#flush()
  }

  /**
   * Reads what the page holds again. What is on its way has begun a moment ago and is left alone: every page that opens
   * would be read twice, for the sake of what changes between its first reading and this.
   */
  catchUp(): void {
    void this.#queryClient.invalidateQueries({
      predicate: ({ state }) => state.fetchStatus === 'idle' && state.data !== undefined,
    })
  }

  end(): void {
    document.removeEventListener('visibilitychange', this.#flush)
    clearTimeout(this.#timer)
  }

  readonly #flush = (): void => {
    if (document.hidden) return
    this.#readAgain('records')
    if (this.#timer !== undefined || this.#waiting.lists.size === 0) return
    this.#readAgain('lists')
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#flush()
    }, LISTS_EVERY_MS)
  }

  /** What no open page shows is only marked as old. */
  #readAgain(part: Part): void {
    const changed = [...this.#waiting[part]].map((topic) => topic.split(':', 2))
    this.#waiting[part].clear()
    if (changed.length === 0) return
    const predicate = ({ queryKey: [collection, id] }: Query) =>
      part === (isRecord(id) ? 'records' : 'lists') &&
      changed.some(
        ([name, record]) =>
          name === 'all' ||
          (name === collection && (record === undefined || !isRecord(id) || id === record)),
      )
    const begun = this.#queryClient.getQueryCache().findAll({ predicate }).filter(isFirstReading)
    void this.#queryClient.invalidateQueries({ predicate })
    for (const query of begun) void this.#followReading(query)
  }

  /**
   * Reads once more what was on its way for the first time when it changed: the library keeps such a reading, which
   * may have been answered before the change, and begins no other.
   */
  async #followReading({ promise, queryKey }: Query): Promise<void> {
    await Promise.allSettled([promise])
    await this.#queryClient.invalidateQueries({ queryKey, exact: true })
  }
}

function isFirstReading({ state }: Query): boolean {
  return state.fetchStatus !== 'idle' && state.data === undefined
}

/** The second member of a key is the id of a record, unless it names a list. */
function isRecord(id: unknown): boolean {
  return id !== undefined && id !== 'list'
}
