/*
 * Lets requests with API keys through: who sends them, and whether their key still has a place within its rate limit.
 * The database is asked for every request, so that nothing is remembered that could be outdated; requests that wait
 * for one another ask by one statement. What a request reads goes along with it, where its key was let through before:
 * that is a guess about what to read, and lets nobody through. While nothing can be stored, the database is still asked
 * for keys, and this process keeps their limits alone.
 */
import type { Kysely, RawBuilder } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import { isFaultOfDatabase, isHinderedWrite } from '../../platform/db/database-fault.ts'
import { connectionsMaxOf, runInTurn } from '../../platform/db/database.ts'
import type { AheadStatement, ReadAhead } from '../../platform/db/read-ahead.ts'
import { GroupCommitter } from '../../platform/group-committer.ts'
import { ProcessRateLimiter } from '../../platform/rate-limits/process-rate-limiter.ts'
import { decisionOfPlace } from '../../platform/rate-limits/rate-limit-store.ts'
import {
  callerBucket,
  RATE_LIMIT_WINDOW_SECONDS,
  type RateLimitDecision,
} from '../../platform/rate-limits/rate-limiter.ts'
import type { Principal } from '../../schema/principal.ts'
import type { Schema } from '../../schema/schema.ts'
import { toAdmission, type AdmittedKey, type KeyRequests } from './api-key-store.ts'
import { toKeyHash, toPrincipal } from './authenticate-api-key.ts'

interface KeyAdmissionDependencies {
  /** For statements that run over and over. */
  readonly db: Kysely<Schema>
  readonly clock: Clock
  /** Requests of a key in any 60 s. */
  readonly requestsPerMinute: number
}

/** Who sends a request, and whether it has a place. */
interface KeyAdmission {
  readonly caller: Principal
  readonly decision: RateLimitDecision
  /** What is read along with it. */
  readonly ahead: ReadAhead | undefined
}

/**
 * Finds the caller that a key stands for and takes a place of its rate limit, if one is free. A key that is refused
 * takes none.
 *
 * @throws AppError `unauthenticated`; `unavailable` when the database is away or too many requests wait
 */
export type AdmitKey = (
  key: string,
  readAhead?: () => AheadStatement | undefined,
) => Promise<KeyAdmission>

const LIMITS = {
  membersMax: 256,
  bytesMax: 1_000_000,
  // Another than the first only when one is full, or waits for a bucket that another process holds.
  runningMax: 4,
  waitingMax: 10_000,
  waitMaxMs: 10_000,
} as const

/** Rows that are read along with one statement: those of a page. */
const ROWS_AHEAD_MAX = 101
/** Reads that go along with one statement, one after the other on its connection. */
const READS_AHEAD_MAX = 16
/**
 * Groups whose reads are under way, each on a connection; while there are as many, those of others do not go along. Of
 * a small pool a quarter: reads may all wait for one lock.
 */
const READING_MAX = 4
/** Keys that are remembered as having been let through. */
const RECENT_KEYS_MAX = 1_000

interface Asked {
  readonly hash: Buffer
  readonly hashText: string
  readonly read: AheadStatement | undefined
}

/** A request in a group, with what was found of its key at that time. */
interface Found {
  readonly key: AdmittedKey | undefined
  /** Which of the requests of the key in its group it is, from 0. */
  readonly index: number
  readonly now: Date
  readonly ahead: ReadAhead | undefined
}

export function createKeyAdmission(dependencies: KeyAdmissionDependencies): AdmitKey {
  const { db, requestsPerMinute } = dependencies
  const recent = new RecentKeys()
  const reading = { count: 0, max: Math.min(READING_MAX, Math.floor(connectionsMaxOf(db) / 4)) }
  const alone = new ProcessRateLimiter(dependencies.clock)
  const groups = new GroupCommitter<Asked, Found>({
    limits: LIMITS,
    commit: (members) => findKeys({ ...dependencies, reading, alone }, members),
    isFaultOfAll: (error) => isFaultOfDatabase(error),
    pausePerMemberMs: 0,
  })
  return async (key, readAhead) => {
    const hash = toKeyHash(key)
    const hashText = hash.toString('base64')
    const read = recent.has(hashText) ? readAhead?.() : undefined
    const asked = { hash, hashText, read: read?.db === db ? read : undefined }
    const found = await groups.add(asked, hash.length)
    const places = found.key?.places ?? null
    const decision = places && decisionOfPlace(places, requestsPerMinute, found.index)
    recent.note(hashText, decision?.isAllowed === true)
    const caller = toPrincipal(found.key, found.now)
    if (decision === null) throw new Error('no place was asked for of a key that is live')
    return { caller, decision, ahead: found.ahead }
  }
}

interface FindKeys extends KeyAdmissionDependencies {
  /** How many groups have reads under way. */
  readonly reading: { count: number; readonly max: number }
  /** Keeps the limits while nothing can be stored. */
  readonly alone: ProcessRateLimiter
}

async function findKeys(dependencies: FindKeys, members: readonly Asked[]): Promise<Found[]> {
  const { clock, requestsPerMinute, reading } = dependencies
  const now = clock.now()
  const counts = new Map<string, { readonly hash: Buffer; count: number }>()
  const indexes = members.map(({ hash, hashText }) => {
    const known = counts.get(hashText)
    if (known !== undefined) return known.count++
    counts.set(hashText, { hash, count: 1 })
    return 0
  })
  const asked = [...counts.values()]
  const requests = {
    hashes: asked.map(({ hash }) => hash),
    counts: asked.map(({ count }) => count),
    capacity: requestsPerMinute,
    now,
  }
  const reads =
    reading.count < reading.max ? chooseReads(members) : new Map<Asked, AheadStatement>()
  const { keys, aheads } = await askDatabase(dependencies, toAdmission(requests), reads).catch(
    (error: unknown) => {
      if (!isHinderedWrite(error)) throw error
      return admitAlone(dependencies, requests)
    },
  )
  const byHash = new Map(keys.map((key) => [key.hash.toString('base64'), key]))
  return members.map((member, place) => ({
    key: byHash.get(member.hashText),
    index: indexes[place] ?? 0,
    now,
    ahead: aheads.get(member),
  }))
}

/** Asks for the keys, and takes their places where this process keeps the limits. */
async function admitAlone(
  { db, alone }: Pick<FindKeys, 'db' | 'alone'>,
  requests: KeyRequests,
): Promise<AdmissionAnswer> {
  const { hashes, counts, capacity } = requests
  const { rows } = await toAdmission({ ...requests, counts: counts.map(() => null) }).execute(db)
  const keys = rows.map((key) => {
    const count = counts[hashes.findIndex((hash) => hash.equals(key.hash))] ?? 0
    const bucket = callerBucket('api_key', key.id)
    return { ...key, places: alone.take(bucket, capacity, count, RATE_LIMIT_WINDOW_SECONDS) }
  })
  return { keys, aheads: new Map() }
}

/** Those whose reads go along, one after the other: as many as take little longer together than a page does. */
function chooseReads(members: readonly Asked[]): Map<Asked, AheadStatement> {
  const chosen = new Map<Asked, AheadStatement>()
  let rows = 0
  for (const member of members) {
    if (chosen.size === READS_AHEAD_MAX) break
    const { read } = member
    if (read === undefined || rows + read.rowsMax > ROWS_AHEAD_MAX) continue
    rows += read.rowsMax
    chosen.set(member, read)
  }
  return chosen
}

interface AdmissionAnswer {
  readonly keys: readonly AdmittedKey[]
  readonly aheads: ReadonlyMap<Asked, ReadAhead>
}

/** The admission comes first and ends by itself, and so does each read: a fault is that of whoever asked for it. */
async function askDatabase(
  { db, reading }: Pick<FindKeys, 'db' | 'reading'>,
  admission: RawBuilder<AdmittedKey>,
  reads: ReadonlyMap<Asked, AheadStatement>,
): Promise<AdmissionAnswer> {
  const statements = [...reads.values()].map(({ statement }) => statement)
  const [admitted, ...answers] = runInTurn(db, [admission.compile(db), ...statements])
  const progress = { endedCount: 0 }
  if (answers.length > 0) {
    reading.count += 1
    const ends = answers.map((answer) =>
      answer
        .catch(() => undefined)
        .then(() => {
          progress.endedCount += 1
        }),
    )
    void Promise.all(ends).then(() => {
      reading.count -= 1
    })
  }
  const aheads = [...reads].map(([member, { statement }], place) => {
    const ahead: ReadAhead = {
      statement,
      rows: answers[place] ?? Promise.resolve([]),
      progress: place > 0 ? progress : undefined,
    }
    return [member, ahead] as const
  })
  return { keys: (await admitted) as readonly AdmittedKey[], aheads: new Map(aheads) }
}

/** Keys that were let through lately, by this process. */
class RecentKeys {
  readonly #hashes = new Set<string>()

  has(hash: string): boolean {
    return this.#hashes.has(hash)
  }

  note(hash: string, isLetThrough: boolean): void {
    if (!isLetThrough) {
      this.#hashes.delete(hash)
      return
    }
    this.#hashes.delete(hash)
    const [oldest] = this.#hashes
    if (this.#hashes.size >= RECENT_KEYS_MAX && oldest !== undefined) this.#hashes.delete(oldest)
    this.#hashes.add(hash)
  }
}
