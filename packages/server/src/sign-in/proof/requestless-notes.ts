/*
 * Notes connections without a request at the proofs whose ports they lead to. Bounded whoever knocks: of a proof, and
 * of a port whose lease is to be read, a few are noted, for then all count (judge-requestless.ts), as they do where
 * one could not be noted. Does not own what is written of one.
 */
import type { Foundation, LogError } from '../../changes/foundation.ts'
import { REQUESTLESS_MAX, type RequestlessStay } from './judge-requestless.ts'
import type { LeaseBook } from './lease-book.ts'
import { updateReason } from './probe-arrival-store.ts'
import type { ProbeLease } from './probe-lease-store.ts'
import type { OpenedConnection } from './probe-listeners.ts'
import { recordRequestless } from './record-arrival.ts'

export interface RequestlessContext extends Pick<Foundation, 'db' | 'clock'> {
  readonly logError: LogError
}

/** A connection at a port whose lease is to be read. */
interface Unread {
  readonly stay: RequestlessStay
  /** The lease that was known, where it is noted already. */
  readonly known: ProbeLease | undefined
}

/** Until when one that waited in vain was there, and of which proof it is noted all the same. */
interface GivenUp {
  readonly until: Date
  readonly notedProofId: string | undefined
}

/** Those that ended in the order in which they did. */
type UnreadOfPort = Map<OpenedConnection, Unread>

class UnreadOfPorts extends Map<number, UnreadOfPort> {}

class NotesOfProof extends Map<OpenedConnection, Promise<string | undefined>> {
  hasFailed = false
}

/** A proof whose notes are waited for. */
export interface NotedProof extends Pick<ProbeLease, 'proofId' | 'leasedAt'> {
  readonly ports: readonly number[]
}

export class RequestlessNotes {
  readonly #context: RequestlessContext
  readonly #book: () => LeaseBook
  readonly #ofProofs = new Map<string, NotesOfProof>()
  /** By the reading that they wait for. */
  readonly #unread = new Map<Promise<void>, UnreadOfPorts>()
  /** By the clock that leases have. */
  readonly #endedAt = new WeakMap<OpenedConnection, Date>()
  /** Those of a port that a reading failed for: the last of all, and the last that is noted elsewhere than that. */
  readonly #givenUp = new Map<number, readonly GivenUp[]>()
  readonly #underWay = new Set<Promise<void>>()
  /** Whether it is logged already: whoever knocks may knock often. */
  #isFailing = false

  constructor(context: RequestlessContext, book: () => LeaseBook) {
    this.#context = context
    this.#book = book
  }

  /** How many connections are held until the leases are read: a few of each port, however many come and go. */
  get unreadCount(): number {
    const ofPorts = [...this.#unread.values()].flatMap((ports) => [...ports.values()])
    return ofPorts.reduce((sum, { size }) => sum + size, 0)
  }

  note(opened: OpenedConnection, stay: RequestlessStay): void {
    const { port } = opened.seen
    if (stay === 'ended') this.#endedAt.set(opened, this.#context.clock.now())
    const known = this.#book().find(port)
    if (known !== undefined) this.#noteAtLease(known, opened, stay)
    // At a lease of which this process has not heard it would speak for somebody else if nobody noted it.
    this.#noteOnceRead(port, opened, { stay, known })
  }

  /** Waits for all that is being noted. Never rejects. */
  async settle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  /**
   * The same of a proof: what is read by then is noted at the lease that it has found. Answers whether all that there
   * was to note of it could be, as far as is known here.
   */
  async settleOf({ proofId, ports, leasedAt }: NotedProof): Promise<boolean> {
    await Promise.allSettled(this.#unread.keys())
    const own = this.#ofProofs.get(proofId)
    await Promise.allSettled([...(own?.values() ?? [])])
    const givenUp = ports.flatMap((port) => this.#givenUp.get(port) ?? [])
    const isMissing = ({ until, notedProofId }: GivenUp) =>
      until >= leasedAt && notedProofId !== proofId
    return own?.hasFailed !== true && !givenUp.some(isMissing)
  }

  forget(proofId: string): void {
    this.#ofProofs.delete(proofId)
  }

  #noteOnceRead(port: number, opened: OpenedConnection, unread: Unread): void {
    const reading = this.#book().nextReading()
    const ofPorts = this.#unread.get(reading) ?? new UnreadOfPorts()
    const ofPort = ofPorts.get(port) ?? (new Map() as UnreadOfPort)
    ofPorts.set(port, ofPort)
    this.#addUnread(ofPort, opened, unread)
    if (this.#unread.has(reading)) return
    this.#unread.set(reading, ofPorts)
    // First of those who wait for the reading, so that the notes are under way when they go on.
    this.#watch(
      reading
        .then(
          () => this.#noteAllRead(ofPorts),
          (error: unknown) => this.#giveUp(ofPorts, error),
        )
        .finally(() => this.#unread.delete(reading)),
    )
  }

  /**
   * A few of a port, whichever lease it turns out to have: of many, those that ended first give way, because a lease
   * that began after that has nothing to do with them.
   */
  #addUnread(ofPort: UnreadOfPort, opened: OpenedConnection, unread: Unread): void {
    ofPort.delete(opened)
    if (ofPort.size >= REQUESTLESS_MAX) {
      const first = [...ofPort.keys()].find((each) => this.#endedAt.has(each))
      if (first === undefined) return
      ofPort.delete(first)
    }
    ofPort.set(opened, unread)
  }

  #giveUp(ofPorts: UnreadOfPorts, error: unknown): never {
    const at = this.#context.clock.now()
    for (const [port, ofPort] of ofPorts) {
      const unread = [...ofPort].map(([opened, { known }]) => {
        return { until: this.#endedAt.get(opened) ?? at, notedProofId: known?.proofId }
      })
      this.#givenUp.set(port, toLast([...(this.#givenUp.get(port) ?? []), ...unread]))
    }
    throw error
  }

  #noteAllRead(ofPorts: UnreadOfPorts): void {
    for (const [port, ofPort] of ofPorts) {
      const lease = this.#book().find(port)
      if (lease === undefined) continue
      for (const [opened, { stay, known }] of ofPort) {
        if (lease.proofId !== known?.proofId) this.#noteAtLease(lease, opened, stay)
      }
    }
  }

  /** Each connection once: a few of each proof, and none after one that failed, so that more cost nothing. */
  #noteAtLease(lease: ProbeLease, opened: OpenedConnection, stay: RequestlessStay): void {
    const { proofId } = lease
    const notes = this.#ofProofs.get(proofId) ?? new NotesOfProof()
    const noted = notes.get(opened)
    const isNews =
      noted === undefined
        ? notes.size < REQUESTLESS_MAX && !this.#hadEnded(opened, lease)
        : stay !== 'open'
    if (!isNews || notes.hasFailed) return
    const noting =
      noted === undefined
        ? recordRequestless(this.#context, lease, opened, stay)
        : renew(this.#context, noted, stay)
    this.#ofProofs.set(proofId, notes)
    notes.set(opened, noting)
    noting.catch(() => (notes.hasFailed = true))
    this.#watch(noting)
  }

  /** Whether it ended before the lease began: no device is asked about it. */
  #hadEnded(opened: OpenedConnection, { leasedAt }: ProbeLease): boolean {
    const endedAt = this.#endedAt.get(opened)
    return endedAt !== undefined && endedAt < leasedAt
  }

  #watch(work: Promise<unknown>): void {
    const watched = work
      .then(
        () => void (this.#isFailing = false),
        (error: unknown) => this.#onFailure(error),
      )
      .finally(() => this.#underWay.delete(watched))
    this.#underWay.add(watched)
  }

  #onFailure(error: unknown): void {
    if (!this.#isFailing) {
      this.#context.logError(error, 'connections to ports of device proofs cannot be noted')
    }
    this.#isFailing = true
  }
}

/** The last, and the last that is noted elsewhere: one of them speaks for whichever proof any of all speaks for. */
function toLast(all: readonly GivenUp[]): readonly GivenUp[] {
  const ordered = all.toSorted((one, other) => other.until.getTime() - one.until.getTime())
  const [last] = ordered
  const elsewhere = ordered.find(({ notedProofId }) => notedProofId !== last?.notedProofId)
  return [last, elsewhere].filter((each) => each !== undefined)
}

async function renew(
  { db }: RequestlessContext,
  noted: Promise<string | undefined>,
  stay: RequestlessStay,
): Promise<string | undefined> {
  const id = await noted
  if (id !== undefined) await updateReason(db, id, stay)
  return id
}
