/*
 * Reads that may be answered by a standby, and never with less than the primary would have shown when they began: the
 * position of the primary's log is asked for once, and a connection to the standby is used only when it has replayed
 * that far, on the same history of the same database. Whoever has written, through whichever process, thus reads what
 * they wrote. A standby that is away, behind, or has left the history is passed over, and the primary answers.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Pool, PoolClient } from 'pg'
import { SECOND_MS } from '../clock.ts'
import { errorCodeOf } from '../error-code-of.ts'

/** Runs `work`, whose reads by `db` may be answered by a standby. It must write nothing by it. */
export function readFromReplica<Result>(work: () => Promise<Result>): Promise<Result> {
  return reads.run({ position: undefined }, work)
}

/** What all reads of one piece of work go by. */
interface ReplicaRead {
  position: Promise<LogPosition> | undefined
}

const reads = new AsyncLocalStorage<ReplicaRead>()

/** How far the log of a primary is, and on which timeline. */
export interface LogPosition {
  readonly lsn: string
  /** The last record before is on the disk of the primary: nothing beyond is sent to a standby. */
  readonly flushedLsn: string
  readonly timelineId: string
}

/** The pool of connections to the standby; opens none before the first read. */
export type ReplicaPool = Pick<Pool, 'connect' | 'end'>

export interface ReplicaOptions {
  readonly replica: ReplicaPool
  /** Told what keeps reads from the standby, once while it lasts. */
  readonly logProblem: (reason: string) => void
}

/** How many connections were given for reads that a standby may answer, by who answers. */
export interface ReplicaCounts {
  replica: number
  primary: number
}

/** Replication on one network takes a few milliseconds. */
const REPLAY_WAIT_MS = 100
const REPLAY_POLL_MS = 5
/** With traffic, somebody else's commit comes before. */
const LOOKS_BEFORE_FLUSH = 2
/** A standby that says nothing for longer is of no use. */
const ANSWER_MAX_MS = SECOND_MS
/** One that was of no use is left alone for so long. */
const REST_MS = SECOND_MS

/** At the end of a page of the log, the disk may have the first part of a record. */
const POSITION = `select pg_current_wal_insert_lsn()::text as lsn,
  (select flushed - case when (flushed - '0/0') % current_setting('wal_block_size')::int = 0 then 65536 else 0 end
    from pg_current_wal_flush_lsn() as flushed)::text as "flushedLsn",
  ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint::text as "timelineId"`

/**
 * A commit that writes takes all that is before it in the log to the disk. Without traffic nothing else does for
 * seconds, although something of the clean-up of pages or of a commit that waits for no disk is there; and at the
 * beginning of a page the log counts as further than any record of it. The message is read by nobody.
 */
const FLUSH = `select pg_logical_emit_message(true, 'heliograph', '')`

/** The role has no EXECUTE on it (PostgreSQL, appendix A: insufficient_privilege). */
const FLUSH_REFUSED_CODE = '42501'
const FLUSH_REFUSED =
  'it is behind while little is written, and the role of DATABASE_URL may not execute pg_logical_emit_message, which would send it the rest; once it may, start the service again'

/**
 * What the standby has replayed tells by itself on which history it is: the timeline is noted among the rows
 * (`database_origin`) after each takeover.
 */
const IS_CURRENT = `select pg_is_in_recovery() as "isStandby",
  coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as "hasReplayed",
  coalesce(pg_last_wal_replay_lsn() >= $2::pg_lsn, false) as "hasFlushed",
  (select timeline_id::text from database_origin) as "timelineId"`

/**
 * Two installations may have logs that are as far as each other: the server whose rows these are, and the name tell
 * them apart. A copy of the files of a server is of the same one; when it was noted on which history it is tells that
 * apart.
 */
const IDENTITY = `select current_database() as database, system_identifier::text as "systemIdentifier",
  extract(epoch from noted_at)::text as "notedAt"
  from (values (1)) as one left join database_origin on true`

interface DatabaseIdentity {
  readonly database: string
  readonly systemIdentifier: string | null
  readonly notedAt: string | null
}

interface ReplicaState {
  readonly isStandby: boolean
  readonly hasReplayed: boolean
  /** It has replayed what was on the disk of the primary. */
  readonly hasFlushed: boolean
  readonly timelineId: string | null
}

/** Gives connections to the standby for reads that may go there while it is current, and else those of the primary. */
export class ReplicaRouter {
  readonly counts: ReplicaCounts = { replica: 0, primary: 0 }
  readonly #primary: { readonly connect: () => Promise<PoolClient> }
  readonly #options: ReplicaOptions
  /** Connections that are known to lead to the database of the primary. */
  readonly #known = new WeakSet<PoolClient>()
  /** Who the primary is, once its rows say so. */
  #own: DatabaseIdentity | undefined
  #flush: Promise<void> | undefined
  /** It is not asked for again: each refusal is an error in the log of the server. */
  #isFlushRefused = false
  #hasLoggedRefusal = false
  #restsUntilMs = -Infinity
  #problem: string | undefined

  constructor(primary: { readonly connect: () => Promise<PoolClient> }, options: ReplicaOptions) {
    this.#primary = primary
    this.#options = options
  }

  async connect(): Promise<PoolClient> {
    const read = reads.getStore()
    if (read === undefined) return this.#primary.connect()
    const client = await this.#findCurrent(read)
    this.counts[client === undefined ? 'primary' : 'replica'] += 1
    return client ?? this.#primary.connect()
  }

  async #findCurrent(read: ReplicaRead): Promise<PoolClient | undefined> {
    if (performance.now() < this.#restsUntilMs) return undefined
    read.position ??= this.#askPrimary<LogPosition>(POSITION)
    const position = await read.position
    const own = await this.#identify()
    let client: PoolClient | undefined
    try {
      client = await this.#options.replica.connect()
      const problem = await inTime(this.#findProblem(client, position, own))
      if (problem === undefined) {
        this.#problem = undefined
        return client
      }
      client.release()
      this.#rest(problem)
    } catch (error) {
      client?.release(true)
      this.#rest(error instanceof Error ? error.message : String(error))
    }
    return undefined
  }

  /** Before the standby is asked, which is not to blame for a primary that is busy. */
  async #identify(): Promise<DatabaseIdentity> {
    const own = this.#own ?? (await this.#askPrimary<DatabaseIdentity>(IDENTITY))
    if (own.systemIdentifier !== null) this.#own = own
    return own
  }

  async #findProblem(
    client: PoolClient,
    position: LogPosition,
    own: DatabaseIdentity,
  ): Promise<string | undefined> {
    const problem = await findLag(client, position, {
      ask: () => this.#flushPrimary(),
      isRefused: () => this.#isFlushRefused,
    })
    if (problem !== undefined || this.#known.has(client)) return problem
    const { rows } = await client.query<DatabaseIdentity>(IDENTITY)
    if (!isDeepStrictEqual(rows[0], own)) {
      // After a takeover it is noted anew.
      this.#own = undefined
      return 'it has another database'
    }
    this.#known.add(client)
    return undefined
  }

  /** One commit for all reads that wait for it. A primary that refuses answers them itself. */
  #flushPrimary(): void {
    if (this.#flush !== undefined || this.#isFlushRefused) return
    this.#flush = this.#askPrimary(FLUSH)
      .then(
        () => undefined,
        (error: unknown) => {
          this.#isFlushRefused = errorCodeOf(error) === FLUSH_REFUSED_CODE
        },
      )
      .finally(() => (this.#flush = undefined))
  }

  async #askPrimary<Row extends object>(text: string): Promise<Row> {
    const client = await this.#primary.connect()
    try {
      const { rows } = await client.query<Row>(text)
      client.release()
      const [row] = rows
      if (row === undefined) throw new Error('the primary told nothing')
      return row
    } catch (error) {
      client.release(true)
      throw error
    }
  }

  #rest(problem: string): void {
    this.#restsUntilMs = performance.now() + REST_MS
    if (this.#problem === problem) return
    this.#problem = problem
    // It comes and goes with the traffic.
    if (problem === FLUSH_REFUSED && this.#hasLoggedRefusal) return
    this.#hasLoggedRefusal ||= problem === FLUSH_REFUSED
    this.#options.logProblem(problem)
  }
}

/** Takes to the disk of the primary what a standby cannot have yet. */
interface PrimaryFlush {
  readonly ask: () => void
  readonly isRefused: () => boolean
}

/** Why a standby does not have what the primary had; undefined when it does. */
async function findLag(
  client: PoolClient,
  { lsn, flushedLsn, timelineId }: LogPosition,
  flush: PrimaryFlush,
): Promise<string | undefined> {
  const endMs = performance.now() + REPLAY_WAIT_MS
  let isFlushAsked = false
  for (let looks = 1; ; looks += 1) {
    const { rows } = await client.query<ReplicaState>(IS_CURRENT, [lsn, flushedLsn])
    const [state] = rows
    if (state?.isStandby !== true) return 'it is no standby'
    if (state.timelineId !== timelineId) return 'it is not on the timeline of the primary'
    if (state.hasReplayed) return undefined
    if (performance.now() >= endMs) {
      return state.hasFlushed && flush.isRefused() ? FLUSH_REFUSED : 'it is behind'
    }
    if (state.hasFlushed && looks >= LOOKS_BEFORE_FLUSH && !isFlushAsked) {
      isFlushAsked = true
      flush.ask()
    }
    await sleep(REPLAY_POLL_MS)
  }
}

async function inTime<Result>(answer: Promise<Result>): Promise<Result> {
  // Nobody hears what comes late.
  answer.catch(() => undefined)
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('it does not answer')), ANSWER_MAX_MS)
  })
  try {
    return await Promise.race([answer, over])
  } finally {
    clearTimeout(timer)
  }
}
