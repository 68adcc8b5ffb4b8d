/** Those who want to hear of things by their keys: of one, or of any when something may have been missed. */
export class KeyedWatchers {
  readonly #looks = new Map<string, Set<() => void>>()

  /** Calls `look` whenever the key is heard of, until the answer is called. */
  watch(key: string, look: () => void): () => void {
    const looks = this.#looks.get(key) ?? new Set()
    this.#looks.set(key, looks.add(look))
    return () => {
      looks.delete(look)
      if (looks.size === 0 && this.#looks.get(key) === looks) this.#looks.delete(key)
    }
  }

  hear(key: string): void {
    for (const look of this.#looks.get(key) ?? []) look()
  }

  hearAll(): void {
    for (const looks of this.#looks.values()) for (const look of looks) look()
  }
}
