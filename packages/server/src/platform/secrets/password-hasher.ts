/*
 * Hashes of passwords: Argon2id (RFC 9106), with the parameters and the salt in the text of the hash (PHC string
 * format), so that they can be raised while older hashes are still read. Owns that only so many are worked out at
 * once: each takes 19 MiB and a thread for tens of milliseconds.
 */
import type { Options } from '@node-rs/argon2'
import type { BoundedWork } from '../bounded-work.ts'
import { newKeyBytes } from '../ids.ts'

/** More than the least that OWASP asks for (19 MiB, two passes). */
export const PASSWORD_HASH_PARAMETERS = {
  /** KiB. */
  memoryCost: 19_456,
  timeCost: 3,
  parallelism: 1,
} as const satisfies Options

export interface PasswordHasher {
  /** @throws AppError `unavailable` when too many wait */
  hash(password: string): Promise<string>
  /**
   * Whether it is the password of the hash. Takes as long without a hash as with one.
   *
   * @throws AppError `unavailable` when too many wait
   */
  verify(hash: string | undefined, password: string): Promise<boolean>
  /** Whether the hash was made with other parameters than new ones are. */
  isOutdated(hash: string): Promise<boolean>
}

/** The library is native, and loaded when the first password is needed. */
export function createPasswordHasher(work: BoundedWork): PasswordHasher {
  const hash = async (password: string) => {
    const argon2 = await import('@node-rs/argon2')
    return work.run(() => argon2.hash(password, PASSWORD_HASH_PARAMETERS))
  }
  let decoy: Promise<string> | undefined
  const findDecoy = async () => {
    decoy ??= hash(newKeyBytes(16).toString('hex'))
    try {
      return await decoy
    } catch (error) {
      decoy = undefined
      throw error
    }
  }
  return {
    hash,
    verify: async (stored, password) => {
      const [argon2, standIn] = [await import('@node-rs/argon2'), await findDecoy()]
      const isRight = await work.run(() => argon2.verify(stored ?? standIn, password))
      return isRight && stored !== undefined
    },
    isOutdated: async (stored) => {
      const { parseOptions } = await import('@node-rs/argon2')
      const { memoryCost, timeCost, parallelism } = parseOptions(stored)
      const present = PASSWORD_HASH_PARAMETERS
      return (
        memoryCost !== present.memoryCost ||
        timeCost !== present.timeCost ||
        parallelism !== present.parallelism
      )
    },
  }
}
