/*
 * Which statements of a process get a name, by which connections keep them prepared. A name that has not been used for
 * as long as a connection lives is known to none, and makes room for another: texts with the bounds of partitions
 * change.
 */
import { createHash } from 'node:crypto'

/** A text gets a name when it is met for this time: those that are built for one occasion never do. */
const USES_BEFORE_NAMING = 2
/** Every name takes memory in every connection of the server. */
const NAMES_MAX = 400
/** How many texts are counted at once. */
const TEXTS_MAX = 2_000

/** Not what ends transactions: there is nothing to plan. What begins one goes along with its first statement. */
const PLANNED = /^\s*(?:select|with|insert|update|delete|begin|start transaction)\b/i

/** With the rest of a name less than the 63 bytes that the server takes. */
const HASH_DIGITS = 32

interface Named {
  readonly name: string
  usedAtMs: number
}

export class StatementNames {
  readonly #named = new Map<string, Named>()
  readonly #uses = new Map<string, number>()
  readonly #unusedMaxMs: number
  #generation = 0
  #abandonedUntilMs = -Infinity

  /** For how long a name may be unused where there is no room for another: as long as a connection lives. */
  constructor(unusedMaxMs: number) {
    this.#unusedMaxMs = unusedMaxMs
  }

  /** The name for a statement at a time of the process; undefined while it is to run without one. */
  nameOf(text: string, nowMs = performance.now()): string | undefined {
    const known = this.#named.get(text)
    if (known !== undefined) {
      known.usedAtMs = nowMs
      return known.name
    }
    if (nowMs < this.#abandonedUntilMs || !PLANNED.test(text)) return undefined
    const uses = (this.#uses.get(text) ?? 0) + 1
    if (uses <= USES_BEFORE_NAMING) {
      if (this.#uses.size >= TEXTS_MAX) this.#uses.clear()
      this.#uses.set(text, uses)
      return undefined
    }
    if (this.#named.size >= NAMES_MAX && !this.#forgetUnused(nowMs)) return undefined
    this.#uses.delete(text)
    const name = `heliograph_${this.#generation}_${hash(text)}`
    this.#named.set(text, { name, usedAtMs: nowMs })
    return name
  }

  /**
   * For as long as a connection lives statements have no names: something between here and the server keeps none, or
   * forgot one. Answers when names are tried again; undefined where that was known already.
   */
  abandon(nowMs = performance.now()): { readonly afterMs: number } | undefined {
    const isKnown = nowMs < this.#abandonedUntilMs
    this.renew()
    if (isKnown) return undefined
    this.#abandonedUntilMs = nowMs + this.#unusedMaxMs
    return { afterMs: this.#unusedMaxMs }
  }

  /** Gives every statement another name: what the connections know under the present ones is outdated. */
  renew(): void {
    this.#generation += 1
    this.#named.clear()
  }

  #forgetUnused(nowMs: number): boolean {
    const before = this.#named.size
    for (const [text, { usedAtMs }] of this.#named) {
      if (nowMs - usedAtMs > this.#unusedMaxMs) this.#named.delete(text)
    }
    return this.#named.size < before
  }
}

/** The same name means the same statement in every process: a pooler may mix their connections. */
function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS)
}
