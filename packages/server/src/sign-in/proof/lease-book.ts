/*
 * The leases as a process knows them: read when a notification tells of a change, so that what comes to a port is
 * judged without a question to the database. Bounded work whoever knocks: reads are gathered.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { SharedRun } from '../../platform/shared-run.ts'
import type { ProbeLease } from './probe-lease-store.ts'

/** What the book does when it has been read. */
export type LeasesChanged = (change: {
  readonly begun: readonly ProbeLease[]
  readonly ended: readonly ProbeLease[]
}) => void

const READ_AGAIN_MS = 100

export class LeaseBook {
  readonly #clock: Clock
  readonly #listLeases: () => Promise<readonly ProbeLease[]>
  readonly #onChange: LeasesChanged
  #byPort = new Map<number, ProbeLease>()
  readonly #reading = new SharedRun(() => this.#read())
  /** The next reading for whoever knocks, until it begins. */
  #turn: Promise<void> | undefined
  #readAtMs = -Infinity

  constructor(
    clock: Clock,
    listLeases: () => Promise<readonly ProbeLease[]>,
    onChange: LeasesChanged,
  ) {
    this.#clock = clock
    this.#listLeases = listLeases
    this.#onChange = onChange
  }

  /** The lease of a port that holds now. */
  find(port: number): ProbeLease | undefined {
    const lease = this.#byPort.get(port)
    return lease !== undefined && lease.leasedUntil > this.#clock.now() ? lease : undefined
  }

  /** Reads the leases; who calls while they are read waits for the next reading, which all share. */
  async refresh(): Promise<void> {
    return this.#reading.again()
  }

  /** The lease of a port, read where the book knows of none. */
  async look(port: number): Promise<ProbeLease | undefined> {
    return this.find(port) ?? this.lookAgain(port)
  }

  /**
   * The lease of a port as it is after this call, read at most ten times a second whoever knocks: who comes in between
   * waits for the next reading, which all share, so that nobody is judged by what was so before.
   */
  async lookAgain(port: number): Promise<ProbeLease | undefined> {
    await this.nextReading()
    return this.find(port)
  }

  /** The same reading for all who call before it begins: one promise, so that what waits for it can be gathered. */
  nextReading(): Promise<void> {
    this.#turn ??= this.#readInTurn()
    return this.#turn
  }

  /** Whether it knows of no lease, not even of one that is over. */
  get isEmpty(): boolean {
    return this.#byPort.size === 0
  }

  /** Waits for a reading that is under way, whatever becomes of it. */
  async settle(): Promise<void> {
    await this.#turn?.catch(() => undefined)
    await this.#reading.settle()
  }

  async #readInTurn(): Promise<void> {
    await sleep(Math.max(0, this.#readAtMs + READ_AGAIN_MS - performance.now()))
    // Until the reading begins, whoever comes still shares it: one before it may take long.
    await this.#reading.settle()
    this.#turn = undefined
    await this.refresh()
  }

  async #read(): Promise<void> {
    this.#readAtMs = performance.now()
    this.#take(await this.#listLeases())
  }

  #take(leases: readonly ProbeLease[]): void {
    const before = this.#byPort
    this.#byPort = new Map(leases.map((lease) => [lease.port, lease]))
    const isOther = (one: ProbeLease, other: ProbeLease | undefined) =>
      one.proofId !== other?.proofId
    const begun = leases.filter((lease) => isOther(lease, before.get(lease.port)))
    const ended = [...before.values()].filter((lease) =>
      isOther(lease, this.#byPort.get(lease.port)),
    )
    if (begun.length + ended.length > 0) this.#onChange({ begun, ended })
  }
}
