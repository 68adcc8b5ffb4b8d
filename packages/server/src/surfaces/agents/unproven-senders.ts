/*
 * What may be spent on senders before it is known who they are: how much of a body is decompressed, and how
 * much of it is held. Owns no look-up of keys, and refuses nobody who shows a key early.
 */
import { AppError } from '../../platform/app-error.ts'
import { addressBucket } from '../../platform/http/rate-limit.ts'
import { createWindowLimiter } from '../../posture/osquery/window-limiter.ts'
import { bodyTooLarge } from './read-agent-body.ts'

const KIBIBYTE = 1024
const MEBIBYTE = 1024 * KIBIBYTE

/** What a body may become whatever its size: a thousand equal lines compress better than anything else. */
const FREE_BYTES = MEBIBYTE
/** Beyond that, bytes per byte sent. Logs of devices become 10 to 30 times as long, and gzip reaches 1,000. */
const RATIO_MAX = 100
/** Agents send 1,024 lines at once; short ones by the hundred thousand cost more than their bytes. */
const VALUES_MAX = 20_000
/** What is read without a key from an address that fails too often: keys stand near the beginning. */
const SUSPECT_BYTES_MAX = 64 * KIBIBYTE
/** What is held of bodies whose key has not come yet, in one process. */
const HELD_BYTES_PER_ADDRESS_MAX = 32 * MEBIBYTE
const HELD_BYTES_MAX = 128 * MEBIBYTE
const RETRY_AFTER_SECONDS = 30

export interface UnprovenSenders {
  /** Whether an address has failed so often in the last minute that its failures are refused. */
  isSuspect(address: string, nowMs: number): boolean
  /** Counts a key or secret that let nobody in. */
  countFailure(address: string, nowMs: number): void
  /** Follows a body whose key has not come yet. */
  follow(address: string, nowMs: number): UnprovenBody
}

/** What has become of a body of an unknown sender. */
export interface UnprovenState {
  readonly bytes: number
  readonly sentBytes: number
  readonly heldBytes: number
  /** How many lines, answers and other values were found in it. */
  readonly valueCount: number
}

/** A body of an unknown sender. */
export interface UnprovenBody {
  /**
   * Checks what has become of the body so far.
   *
   * @throws AppError `body_too_large`; `rate_limited` while too much is held of others
   */
  check(state: UnprovenState): void
  /** The sender is known, or the body is over. Safe to call twice. */
  release(): void
}

/** `failuresPerMinute` is how often an address may fail before it is suspect; IPv6 counts by its /64. */
export function createUnprovenSenders(failuresPerMinute: number): UnprovenSenders {
  const failures = createWindowLimiter(failuresPerMinute)
  const heldByAddress = new Map<string, number>()
  let held = 0

  function hold(bucket: string, bytes: number): void {
    held += bytes
    const own = (heldByAddress.get(bucket) ?? 0) + bytes
    if (own > 0) heldByAddress.set(bucket, own)
    else heldByAddress.delete(bucket)
  }

  const isSuspect = (address: string, nowMs: number) =>
    failures.isExhausted(addressBucket(address), nowMs)

  return {
    isSuspect,
    countFailure: (address, nowMs) => failures.count(addressBucket(address), nowMs),
    follow(address, nowMs) {
      const bucket = addressBucket(address)
      const isLimited = isSuspect(address, nowMs)
      let ownHeld = 0
      return {
        check({ bytes, sentBytes, heldBytes, valueCount }) {
          const bytesMax = isLimited ? SUSPECT_BYTES_MAX : FREE_BYTES + RATIO_MAX * sentBytes
          if (bytes > bytesMax) throw isLimited ? tooManyFailures() : bodyTooLarge(bytesMax)
          if (valueCount > VALUES_MAX) throw tooManyValues()
          hold(bucket, heldBytes - ownHeld)
          ownHeld = heldBytes
          const ofAddress = heldByAddress.get(bucket) ?? 0
          if (ofAddress > HELD_BYTES_PER_ADDRESS_MAX || held > HELD_BYTES_MAX) throw tooMuchHeld()
        },
        release() {
          hold(bucket, -ownHeld)
          ownHeld = 0
        },
      }
    },
  }
}

function tooManyValues(): AppError {
  return new AppError('body_too_large', `The body has more than ${VALUES_MAX} values.`)
}

function tooManyFailures(): AppError {
  return new AppError(
    'rate_limited',
    'Too many keys and secrets of this address are wrong: until that ends, the node key must come early in the body, or in the header.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  )
}

function tooMuchHeld(): AppError {
  return new AppError(
    'rate_limited',
    'Too much is held at the moment of senders who are not known yet; send it again later.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  )
}
