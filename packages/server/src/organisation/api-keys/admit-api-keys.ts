/*
 * Lets requests with API keys through: who sends them, and whether their key still has a place within its rate limit.
 * The database is asked for every request, so that nothing is remembered that could be outdated; requests that wait
 * for one another ask by one statement.
 */
import type { Kysely } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import { isFaultOfDatabase } from '../../platform/db/database-fault.ts'
import { GroupCommitter } from '../../platform/group-committer.ts'
import { decisionOfPlace } from '../../platform/rate-limits/rate-limit-store.ts'
import type { RateLimitDecision } from '../../platform/rate-limits/rate-limiter.ts'
import type { Principal } from '../../schema/principal.ts'
import type { Schema } from '../../schema/schema.ts'
import { admitKeys, type AdmittedKey } from './api-key-store.ts'
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
}

/**
 * Finds the caller that a key stands for and takes a place of its rate limit, if one is free. A key that is refused takes
 * none.
 *
 * @throws AppError `unauthenticated`; `unavailable` when the database is away or too many requests wait
 */
export type AdmitKey = (key: string) => Promise<KeyAdmission>

const LIMITS = {
  membersMax: 256,
  bytesMax: 1_000_000,
  // Another than the first only when one is full, or waits for a bucket that another process holds.
  runningMax: 4,
  waitingMax: 10_000,
  waitMaxMs: 10_000,
} as const

/** A request in a group, with what was found of its key at that time. */
interface Found {
  readonly key: AdmittedKey | undefined
  /** Which of the requests of the key in its group it is, from 0. */
  readonly index: number
  readonly now: Date
}

export function createKeyAdmission(dependencies: KeyAdmissionDependencies): AdmitKey {
  const { requestsPerMinute } = dependencies
  const groups = new GroupCommitter<Buffer, Found>({
    limits: LIMITS,
    commit: (hashes) => findKeys(dependencies, hashes),
    isFaultOfAll: (error) => isFaultOfDatabase(error),
    pausePerMemberMs: 0,
  })
  return async (key) => {
    const hash = toKeyHash(key)
    const found = await groups.add(hash, hash.length)
    const caller = toPrincipal(found.key, found.now)
    const places = found.key?.places ?? null
    if (places === null) throw new Error('no place was asked for of a key that is live')
    return { caller, decision: decisionOfPlace(places, requestsPerMinute, found.index) }
  }
}

async function findKeys(
  { db, clock, requestsPerMinute }: KeyAdmissionDependencies,
  hashes: readonly Buffer[],
): Promise<Found[]> {
  const now = clock.now()
  const counts = new Map<string, { readonly hash: Buffer; count: number }>()
  const indexes = hashes.map((hash) => {
    const name = hash.toString('base64')
    const known = counts.get(name)
    if (known !== undefined) return known.count++
    counts.set(name, { hash, count: 1 })
    return 0
  })
  const asked = [...counts.values()]
  const keys = await admitKeys(db, {
    hashes: asked.map(({ hash }) => hash),
    counts: asked.map(({ count }) => count),
    capacity: requestsPerMinute,
    now,
  })
  const byHash = new Map(keys.map((key) => [key.hash.toString('base64'), key]))
  return hashes.map((hash, place) => ({
    key: byHash.get(hash.toString('base64')),
    index: indexes[place] ?? 0,
    now,
  }))
}
