/*
 * What may be spent on a body while it arrives. Before it is known who sends it: how much is decompressed, and how
 * much of it is held. Then only how much is held of one device. Owns no look-up of keys, and refuses nobody who
 * shows a key early.
 */
import { AppError } from '../../platform/app-error.ts'
import { addressBucket } from '../../platform/rate-limits/address-bucket.ts'
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
/** Keys stand near the beginning: so much is read of everybody, of an address that fails too often no more. */
const EARLY_BYTES_MAX = 64 * KIBIBYTE
/** What is held of bodies whose key has not come yet, in one process. */
const HELD_BYTES_PER_ADDRESS_MAX = 32 * MEBIBYTE
const HELD_BYTES_MAX = 128 * MEBIBYTE
/** What is held of bodies of one device; agents send one log and one write at once, of 18 and 10 MiB at most. */
const HELD_BYTES_PER_DEVICE_MAX = 32 * MEBIBYTE
const RETRY_AFTER_SECONDS = 30

export interface UnprovenSenders {
  /** Whether an address has failed so often in the last minute that its failures are refused. */
  isSuspect(address: string, nowMs: number): boolean
  /** Counts a key or secret that let nobody in. */
  countFailure(address: string, nowMs: number): void
  /** Follows a body that arrives, of which the key has not come yet. */
  follow(address: string, nowMs: number): FollowedBody
}

/** What has become of a body. */
export interface BodyState {
  readonly bytes: number
  readonly sentBytes: number
  readonly heldBytes: number
  /** How many lines, answers and other values were found in it. */
  readonly valueCount: number
}

/** A body that arrives. */
export interface FollowedBody {
  /**
   * Checks what has become of the body so far.
   *
   * @throws AppError `body_too_large`; `rate_limited` while too much is held of others, or of the device
   */
  check(state: BodyState): void
  /** The sender is known: from now on what is held counts for the device. Safe to call twice. */
  prove(deviceId: string): void
  /** The body is over. Safe to call twice. */
  release(): void
}

/** `failuresPerMinute` is how often an address may fail before it is suspect; IPv6 counts by its /64. */
export function createUnprovenSenders(failuresPerMinute: number): UnprovenSenders {
  const failures = createWindowLimiter(failuresPerMinute)
  const unproven = new HeldBytes()
  const proven = new HeldBytes()
  const isSuspect = (address: string, nowMs: number) =>
    failures.isExhausted(addressBucket(address), nowMs)

  return {
    isSuspect,
    countFailure: (address, nowMs) => failures.count(addressBucket(address), nowMs),
    follow(address, nowMs) {
      const bucket = addressBucket(address)
      const isLimited = isSuspect(address, nowMs)
      let device: string | undefined
      let ownHeld = 0
      const hold = (bytes: number) => {
        const change = bytes - ownHeld
        ownHeld = bytes
        return device === undefined ? unproven.add(bucket, change) : proven.add(device, change)
      }
      return {
        check({ bytes, sentBytes, heldBytes, valueCount }) {
          const holder = hold(heldBytes)
          if (device !== undefined) {
            if (holder > HELD_BYTES_PER_DEVICE_MAX) throw tooMuchOfDevice()
            return
          }
          const bytesMax = isLimited ? EARLY_BYTES_MAX : FREE_BYTES + RATIO_MAX * sentBytes
          if (bytes > bytesMax) throw isLimited ? tooManyFailures() : bodyTooLarge(bytesMax)
          if (valueCount > VALUES_MAX) throw tooManyValues()
          if (bytes <= EARLY_BYTES_MAX) return
          if (holder > HELD_BYTES_PER_ADDRESS_MAX || unproven.sum > HELD_BYTES_MAX) {
            throw tooMuchHeld()
          }
        },
        prove(deviceId) {
          if (device !== undefined) return
          hold(0)
          device = deviceId
        },
        release: () => void hold(0),
      }
    },
  }
}

/** Bytes that are held, by whom they are held for. */
class HeldBytes {
  readonly #bytes = new Map<string, number>()
  #sum = 0

  get sum(): number {
    return this.#sum
  }

  /** Answers what is held for this holder then. */
  add(holder: string, bytes: number): number {
    this.#sum += bytes
    const own = (this.#bytes.get(holder) ?? 0) + bytes
    if (own > 0) this.#bytes.set(holder, own)
    else this.#bytes.delete(holder)
    return own
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

function tooMuchOfDevice(): AppError {
  return new AppError(
    'rate_limited',
    'Too much of this device arrives at the same time; send it again later.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  )
}
