/** What stands for everything, where nobody knows any more what changed. */
export const ALL_TOPICS = 'all'

/** As many records are named; when there are more, their collections stand for them. */
const RECORDS_MAX = 100
const COLLECTIONS_MAX = 60
/** An id that is longer than this is not told; its collection is. */
const ID_LENGTH_MAX = 64

/**
 * A bounded set of topics: `devices` is a collection, `devices:7` a record of it, `all` is everything. What is
 * too much to name is told by a wider topic, and is never left out.
 */
export class TopicSet {
  /** The records of each collection; null for any. */
  #recordsOf = new Map<string, Set<string> | null>()
  #count = 0
  #isAll = false

  constructor(topics: Iterable<string> = []) {
    this.addAll(topics)
  }

  get isEmpty(): boolean {
    return !this.#isAll && this.#recordsOf.size === 0
  }

  addAll(topics: Iterable<string>): void {
    for (const topic of topics) this.#add(topic)
  }

  /** In alphabetical order; a record of a collection that is told as a whole is not named. */
  list(): string[] {
    if (this.#isAll) return [ALL_TOPICS]
    return [...this.#recordsOf]
      .flatMap(([collection, records]) =>
        records === null ? [collection] : [...records].map((id) => `${collection}:${id}`),
      )
      .sort()
  }

  #add(topic: string): void {
    if (this.#isAll) return
    const [collection, id] = splitTopic(topic)
    if (collection === ALL_TOPICS) {
      this.#takeAll()
      return
    }
    const known = this.#recordsOf.get(collection)
    if (known === null) return
    if (id === undefined) {
      this.#recordsOf.set(collection, null)
      this.#count -= known?.size ?? 0
    } else {
      this.#addRecord(collection, known ?? new Set(), id)
    }
    if (this.#recordsOf.size > COLLECTIONS_MAX) this.#takeAll()
  }

  #addRecord(collection: string, records: Set<string>, id: string): void {
    this.#count -= records.size
    records.add(id)
    this.#count += records.size
    this.#recordsOf.set(collection, records)
    if (this.#count <= RECORDS_MAX) return
    const [largest] = [...this.#recordsOf].sort((a, b) => (b[1]?.size ?? 0) - (a[1]?.size ?? 0))
    if (largest === undefined) return
    this.#recordsOf.set(largest[0], null)
    this.#count -= largest[1]?.size ?? 0
  }

  #takeAll(): void {
    this.#isAll = true
    this.#recordsOf = new Map()
    this.#count = 0
  }
}

function splitTopic(topic: string): readonly [string, string | undefined] {
  const colon = topic.indexOf(':')
  if (colon < 0) return [topic, undefined]
  const id = topic.slice(colon + 1)
  return [topic.slice(0, colon), id.length > ID_LENGTH_MAX ? undefined : id]
}

/** The collection that a topic is of, or is. */
export function collectionOf(topic: string): string {
  return splitTopic(topic)[0]
}
