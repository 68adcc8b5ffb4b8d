/*
 * Who gets the next free connection of a pool. Work has a kind, told by where it comes in: devices, requests, those of
 * signing in, jobs. As long as connections are free everybody gets one; then each kind in turn, the one that holds the
 * fewest first, so that none of them starves the others however much it asks for. Does not own the connections.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Pool, PoolClient } from 'pg'

/** Runs `work`, and all that follows from it, as work of this kind. */
export function runAs<Result>(kind: string, work: () => Result): Result {
  return kinds.run(kind, work)
}

/** Whether what runs now is work of this kind. */
export function isRunAs(kind: string): boolean {
  return kinds.getStore() === kind
}

const kinds = new AsyncLocalStorage<string>()
/** What nobody named: the start of the process, its clock, those who ask whether it is ready. */
const UNNAMED = ''

interface Waiter {
  readonly begin: () => void
}

export interface PoolTurnsLimits {
  /** Connections in use at once. */
  readonly max: number
  /** How long to wait for one. */
  readonly waitMaxMs: number
}

/** No connection became free in time. In the words of the driver's pool, by which it is known. */
function noneBecameFree(): Error {
  return new Error('timeout exceeded when trying to connect')
}

export class PoolTurns {
  readonly #limits: PoolTurnsLimits
  readonly #running = new Map<string, number>()
  readonly #waiting = new Map<string, Set<Waiter>>()
  /** The number of the last turn of each kind. */
  readonly #lastTurns = new Map<string, number>()
  #turnNumber = 0
  #total = 0

  constructor(limits: PoolTurnsLimits) {
    this.#limits = limits
  }

  /**
   * Resolves when it is the turn of the present kind of work; call the answer when its connection is free again.
   *
   * @throws Error in the words of the pool when it takes too long
   */
  async take(): Promise<() => void> {
    const kind = kinds.getStore() ?? UNNAMED
    if (this.#total < this.#limits.max) this.#begin(kind)
    else await this.#wait(kind)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#end(kind)
    }
  }

  #begin(kind: string): void {
    this.#total += 1
    this.#lastTurns.set(kind, (this.#turnNumber += 1))
    this.#running.set(kind, this.#count(kind) + 1)
  }

  #wait(kind: string): Promise<void> {
    const waiters = this.#waiting.get(kind) ?? new Set()
    this.#waiting.set(kind, waiters)
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        waiters.delete(waiter)
        if (waiters.size === 0) this.#waiting.delete(kind)
      }
      const waiter: Waiter = {
        begin: () => {
          leave()
          this.#begin(kind)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        leave()
        reject(noneBecameFree())
      }, this.#limits.waitMaxMs)
      waiters.add(waiter)
    })
  }

  #end(kind: string): void {
    this.#total -= 1
    const running = this.#count(kind) - 1
    if (running === 0) this.#running.delete(kind)
    else this.#running.set(kind, running)
    this.#findNext()?.begin()
  }

  /** Who waits longest of the kind that holds the fewest; of two such kinds, of that whose last turn is longer ago. */
  #findNext(): Waiter | undefined {
    const [kind] = [...this.#waiting.keys()].sort(
      (left, right) =>
        this.#count(left) - this.#count(right) || this.#lastTurn(left) - this.#lastTurn(right),
    )
    const [waiter] = (kind === undefined ? undefined : this.#waiting.get(kind)) ?? []
    return waiter
  }

  #count(kind: string): number {
    return this.#running.get(kind) ?? 0
  }

  #lastTurn(kind: string): number {
    return this.#lastTurns.get(kind) ?? 0
  }
}

/** The pool, with its connections given out in turns. */
export function giveInTurns(
  pool: Pool,
  turns: Pick<PoolTurns, 'take'>,
): { readonly connect: () => Promise<PoolClient>; readonly end: () => Promise<void> } {
  return {
    end: () => pool.end(),
    async connect() {
      const end = await turns.take()
      try {
        const client = await pool.connect()
        // The pool gives every use of a connection a release of its own.
        const release = client.release.bind(client)
        client.release = (error) => {
          try {
            release(error)
          } finally {
            end()
          }
        }
        return client
      } catch (error) {
        end()
        throw error
      }
    },
  }
}
