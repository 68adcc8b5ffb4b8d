// Where the transmitter's public keys come from: a fixed JWKS, or a JWKS URL with a cache that
// survives key rotation and failing fetches. Only public keys are ever held.
import {
  createLocalJWKSet,
  errors,
  type CryptoKey,
  type JSONWebKeySet,
  type LocalJWKSet,
} from 'jose'
import { KeysUnavailableError, SetVerificationError } from './errors.ts'
import { requireAmounts } from './require-amounts.ts'
import {
  defaultFetch,
  freshForMs,
  requestTransmitter,
  requireSecureUrl,
  type FetchFunction,
} from './transmitter-request.ts'

/** The header members that choose a key. */
export interface KeyHeader {
  readonly alg: string
  readonly kid?: string
}

/** Finds the keys that may have signed a token; usually one, several when it has no `kid`. */
export interface KeySource {
  /**
   * @throws SetVerificationError `invalid_key` when no key fits.
   * @throws KeysUnavailableError when the keys cannot be had at the moment.
   */
  findKeys(header: KeyHeader): Promise<readonly CryptoKey[]>
  /**
   * Finds keys other than those that were tried, none of which signed the token: such as have been published since.
   * None when there are none, or it is too early to look for them: then the token is refused. Without this member it is
   * refused at once.
   *
   * @throws KeysUnavailableError when the keys cannot be had at the moment.
   */
  findOtherKeys?(header: KeyHeader, tried: readonly CryptoKey[]): Promise<readonly CryptoKey[]>
}

/** How the JWKS is fetched and kept. */
export interface RemoteKeySourceOptions {
  /** `jwks_uri` of the transmitter's discovery document. */
  readonly jwksUri: string
  /**
   * Age in milliseconds from which the keys are fetched again in passing; from twice this age on a SET waits for the
   * fetch. So a key that the transmitter has withdrawn is accepted for twice this time at most while keys can be
   * fetched, or for the cool-down where that is longer, whatever it says: a shorter `max-age` counts, down to the
   * cool-down, a longer one does not. After a fetch that failed it may be the cool-down longer. Default 600000.
   */
  readonly refreshAfterMs?: number
  /** Age in milliseconds up to which keys serve while fetching fails. Default 86400000. */
  readonly usableForMs?: number
  /** Shortest time in milliseconds between two fetches. Default 30000. */
  readonly cooldownMs?: number
  /** Longest wait for an answer in milliseconds. Default 5000. */
  readonly timeoutMs?: number
  /** Largest accepted answer, in bytes. Default 262144. */
  readonly bytesMax?: number
  /** Allows plain HTTP beyond the loopback interface. Default false. */
  readonly isHttpAllowed?: boolean
  readonly fetch?: FetchFunction
  /** Now, in milliseconds since the epoch. */
  readonly nowMs?: () => number
}

const CANDIDATE_KEYS_MAX = 10
const KEYS_MAX = 100
/** How many headers that no key fits are remembered, and how long one of them may be. */
const MISSED_HEADERS_MAX = 100
const MISSED_HEADER_LENGTH_MAX = 256
const MISSED_HEADER_MS_MAX = 10 * 60_000
/** How many fetches have to do without a key, until SETs with it are refused during the cool-down too. */
const FETCHES_OF_MISSED = 2

/** When a header that no key fits was first asked for, and how many fetches had begun then. */
interface FirstMiss {
  readonly fetches: number
  readonly atMs: number
}

/** Uses a fixed JWKS. */
export function createLocalKeySource(jwks: JSONWebKeySet): KeySource {
  const keySet = createLocalJWKSet(jwks)
  return {
    async findKeys(header) {
      const keys = await selectKeys(keySet, header)
      if (keys.length === 0) throw unknownKeyError()
      return keys
    },
  }
}

/**
 * Fetches the JWKS at first use, refreshes it in passing when it gets old, before it is used when it is older
 * still, and at once when a key is not in it or none of its keys signed a token, but never more often than the
 * cool-down allows. While fetching fails the last keys serve on, without waiting when a fetch has failed within the
 * cool-down; requests at the same time share one fetch. A key counts as unknown only when a fetch that began after it
 * was asked for did not bring it, or two since it was first asked for: until then the answer during the cool-down is
 * that the keys are unavailable, and the SET comes again. One for which there are keys, none of which signed it, is
 * refused during the cool-down: many of them would hold up all others.
 *
 * @throws TypeError when the URL is neither HTTPS nor loopback, or a time or size is none.
 */
export function createRemoteKeySource(options: RemoteKeySourceOptions): KeySource {
  return new RemoteKeySource(options)
}

class RemoteKeySource implements KeySource {
  readonly #options: Required<RemoteKeySourceOptions>
  #keySet: LocalJWKSet | undefined
  #fetchedAtMs = 0
  #refreshAfterMs: number
  /** Counts the fetches that were begun, so that each caller knows whether one began after it. */
  #fetches = 0
  /** The number of the last fetch that brought keys. */
  #broughtBy = 0
  /** When a header that no key fits was first asked for. */
  readonly #firstMisses = new Map<string, FirstMiss>()
  #attemptedAtMs = Number.NEGATIVE_INFINITY
  #lastFailure: unknown
  #failedAtMs = Number.NEGATIVE_INFINITY
  #fetching: Promise<void> | undefined

  constructor(options: RemoteKeySourceOptions) {
    this.#options = {
      jwksUri: options.jwksUri,
      refreshAfterMs: options.refreshAfterMs ?? 10 * 60_000,
      usableForMs: options.usableForMs ?? 24 * 60 * 60_000,
      cooldownMs: options.cooldownMs ?? 30_000,
      timeoutMs: options.timeoutMs ?? 5_000,
      bytesMax: options.bytesMax ?? 256 * 1024,
      isHttpAllowed: options.isHttpAllowed ?? false,
      fetch: options.fetch ?? defaultFetch,
      nowMs: options.nowMs ?? (() => Date.now()),
    }
    this.#refreshAfterMs = this.#options.refreshAfterMs
    const { refreshAfterMs, usableForMs, cooldownMs, timeoutMs, bytesMax } = options
    requireAmounts({ refreshAfterMs, usableForMs, cooldownMs, timeoutMs, bytesMax })
    requireSecureUrl(this.#options.jwksUri, this.#options.isHttpAllowed)
  }

  async findKeys(header: KeyHeader): Promise<readonly CryptoKey[]> {
    const fetchesBefore = this.#fetches
    const ageMs = this.#ageMs()
    if (!this.#canServeWithoutFetch(ageMs)) await this.#refresh()
    const keys = await this.#select(header)
    if (keys.length > 0) {
      if (ageMs >= this.#refreshAfterMs) void this.#refresh()
      return keys
    }
    if (this.#fetches === fetchesBefore) await this.#refresh()
    const refreshed = await this.#select(header)
    if (refreshed.length > 0) return refreshed
    const { fetches } = this.#firstMiss(header, fetchesBefore)
    // A key that is unknown while the latest keys could not be read may well be a new one.
    const hasLooked =
      (this.#broughtBy > fetchesBefore || this.#broughtBy >= fetches + FETCHES_OF_MISSED) &&
      this.#lastFailure === undefined
    throw hasLooked ? unknownKeyError() : this.#unavailable()
  }

  async findOtherKeys(
    header: KeyHeader,
    tried: readonly CryptoKey[],
  ): Promise<readonly CryptoKey[]> {
    await this.#refresh()
    // A fetch brings keys that are other objects, also those that were there before.
    return (await this.#select(header)).filter((key) => !tried.includes(key))
  }

  /**
   * Keys that nobody has asked for in a long time were not refreshed in passing, and one of them may have been
   * withdrawn since: then the fetch is waited for, unless one has failed within the cool-down.
   */
  #canServeWithoutFetch(ageMs: number): boolean {
    if (this.#keySet === undefined || ageMs > this.#options.usableForMs) return false
    return ageMs < 2 * this.#refreshAfterMs || this.#hasFailedLately()
  }

  #hasFailedLately(): boolean {
    const sinceMs = this.#options.nowMs() - this.#failedAtMs
    return this.#lastFailure !== undefined && sinceMs >= 0 && sinceMs < this.#options.cooldownMs
  }

  /**
   * When the header was first asked for, remembered in bounded space and for a bounded time: SETs with a key that
   * several fetches did not bring are refused without a fetch of their own. One fetch is not enough for that: a
   * transmitter may sign by a key a moment before it publishes it.
   */
  #firstMiss(header: KeyHeader, fetchesBefore: number): FirstMiss {
    const name = missedName(header)
    const nowMs = this.#options.nowMs()
    const earlier = this.#firstMisses.get(name)
    const ageMs = earlier === undefined ? -1 : nowMs - earlier.atMs
    if (earlier !== undefined && ageMs >= 0 && ageMs < MISSED_HEADER_MS_MAX) return earlier
    const miss = { fetches: fetchesBefore, atMs: nowMs }
    if (name.length > MISSED_HEADER_LENGTH_MAX) return miss
    if (this.#firstMisses.size >= MISSED_HEADERS_MAX) {
      const [oldest] = this.#firstMisses.keys()
      if (oldest !== undefined) this.#firstMisses.delete(oldest)
    }
    this.#firstMisses.set(name, miss)
    return miss
  }

  /**
   * The age of the keys. A clock that was set back does not tell it: they count as due for a fetch,
   * and serve on meanwhile.
   */
  #ageMs(): number {
    const nowMs = this.#options.nowMs()
    if (nowMs < this.#fetchedAtMs) this.#fetchedAtMs = nowMs - this.#refreshAfterMs
    return nowMs - this.#fetchedAtMs
  }

  async #select(header: KeyHeader): Promise<readonly CryptoKey[]> {
    if (this.#keySet === undefined || this.#ageMs() > this.#options.usableForMs) {
      throw this.#unavailable()
    }
    const keys = await selectKeys(this.#keySet, header)
    if (keys.length > 0) this.#firstMisses.delete(missedName(header))
    return keys
  }

  #unavailable(): KeysUnavailableError {
    if (this.#lastFailure === undefined) {
      return new KeysUnavailableError('the key is unknown, and it is too early to fetch keys again')
    }
    return new KeysUnavailableError('the keys of the transmitter cannot be fetched', {
      cause: this.#lastFailure,
    })
  }

  /** A transmitter that lets its keys be kept for hours would have them accepted for hours after it withdrew one. */
  #freshMs(headers: Headers): number {
    const { cooldownMs, refreshAfterMs, usableForMs } = this.#options
    const saidMs = Math.max(cooldownMs, freshForMs(headers) ?? refreshAfterMs)
    return Math.min(usableForMs, refreshAfterMs, saidMs)
  }

  /** Never rejects; a failure is remembered. */
  #refresh(): Promise<void> {
    if (this.#fetching !== undefined) return this.#fetching
    const nowMs = this.#options.nowMs()
    const sinceMs = nowMs - this.#attemptedAtMs
    // Negative when the clock was set back, which must not keep the cool-down from ending.
    if (sinceMs >= 0 && sinceMs < this.#options.cooldownMs) return Promise.resolve()
    this.#attemptedAtMs = nowMs
    this.#fetches += 1
    this.#fetching = this.#load(this.#fetches).finally(() => {
      this.#fetching = undefined
    })
    return this.#fetching
  }

  async #load(fetchNumber: number): Promise<void> {
    try {
      const { json, headers } = await requestTransmitter({
        method: 'GET',
        url: this.#options.jwksUri,
        headers: { accept: 'application/jwk-set+json, application/json' },
        timeoutMs: this.#options.timeoutMs,
        responseBytesMax: this.#options.bytesMax,
        fetch: this.#options.fetch,
      })
      this.#keySet = createLocalJWKSet(readJwks(json))
      this.#broughtBy = fetchNumber
      this.#fetchedAtMs = this.#options.nowMs()
      this.#refreshAfterMs = this.#freshMs(headers)
      this.#lastFailure = undefined
    } catch (error) {
      this.#lastFailure = error
      this.#failedAtMs = this.#options.nowMs()
    }
  }
}

/**
 * Reads a JWKS document: keeps its public asymmetric keys.
 *
 * @throws TypeError when it is no JWKS.
 */
export function readJwks(json: unknown): JSONWebKeySet {
  const keys: unknown =
    typeof json === 'object' && json !== null && 'keys' in json ? json.keys : undefined
  if (!Array.isArray(keys)) throw new TypeError('the JWKS is malformed')
  if (keys.length > KEYS_MAX) throw new TypeError(`the JWKS has more than ${KEYS_MAX} keys`)
  return { keys: keys.filter(isPublicKey) }
}

function isPublicKey(key: unknown): key is JSONWebKeySet['keys'][number] {
  if (typeof key !== 'object' || key === null || !('kty' in key)) return false
  return key.kty !== 'oct' && !('d' in key)
}

function missedName({ alg, kid }: KeyHeader): string {
  return JSON.stringify([alg, kid])
}

function unknownKeyError(): SetVerificationError {
  return new SetVerificationError('invalid_key', 'no published key fits the header of the SET')
}

async function selectKeys(keySet: LocalJWKSet, header: KeyHeader): Promise<readonly CryptoKey[]> {
  try {
    return [await keySet({ ...header })]
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return collectCandidates(error)
    if (error instanceof errors.JWKSNoMatchingKey) return []
    throw new SetVerificationError('invalid_key', 'the published key cannot be used', {
      cause: error,
    })
  }
}

async function collectCandidates(
  candidates: AsyncIterable<CryptoKey>,
): Promise<readonly CryptoKey[]> {
  const keys: CryptoKey[] = []
  for await (const key of candidates) {
    if (keys.push(key) === CANDIDATE_KEYS_MAX) break
  }
  return keys
}
