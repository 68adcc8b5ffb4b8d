/*
 * The challenges of WebAuthn ceremonies. A challenge carries its own end and a proof that this service made it
 * for this purpose, so that whoever asks for challenges without being signed in fills no table. That it is used
 * once is kept where it is used. W3C Web Authentication, section 13.4.3.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { MINUTE_MS, SECOND_MS, type Clock } from '../../platform/clock.ts'
import { newKeyBytes } from '../../platform/ids.ts'

/** For as long as a browser asks for a passkey. */
export const CHALLENGE_LIFETIME_MS = 5 * MINUTE_MS

const RANDOM_BYTES = 16
const TIME_BYTES = 6
const PROOF_BYTES = 32
const CHALLENGE_BYTES = RANDOM_BYTES + TIME_BYTES + PROOF_BYTES

/** Makes and knows challenges; a purpose names the ceremony and the session that it is for. */
export interface Challenges {
  /** A new challenge, good for {@link CHALLENGE_LIFETIME_MS} unless it is said for how long. */
  issue(purpose: string, lifetimeMs?: number): Buffer
  /** Whether the text is a challenge that was made for the purpose and has not ended. */
  isFor(purpose: string, challenge: string): boolean
}

/** By what it is kept that a challenge, as a text, was used. */
export function hashChallenge(challenge: string): Buffer {
  return createHash('sha256').update(challenge).digest()
}

/** Challenges under a key that every process of the service derives. */
export function createChallenges(key: Buffer, clock: Clock): Challenges {
  const prove = (purpose: string, head: Buffer) =>
    createHmac('sha256', key).update(head).update(purpose).digest()
  return {
    issue: (purpose, lifetimeMs = CHALLENGE_LIFETIME_MS) => {
      const time = Buffer.alloc(TIME_BYTES)
      const ends = clock.now().getTime() + lifetimeMs
      time.writeUIntBE(Math.floor(ends / SECOND_MS), 0, TIME_BYTES)
      const head = Buffer.concat([newKeyBytes(RANDOM_BYTES), time])
      return Buffer.concat([head, prove(purpose, head)])
    },
    isFor: (purpose, challenge) => {
      const bytes = Buffer.from(challenge, 'base64url')
      if (bytes.length !== CHALLENGE_BYTES) return false
      const head = bytes.subarray(0, RANDOM_BYTES + TIME_BYTES)
      const ends = head.readUIntBE(RANDOM_BYTES, TIME_BYTES) * SECOND_MS
      const proof = bytes.subarray(RANDOM_BYTES + TIME_BYTES)
      return timingSafeEqual(proof, prove(purpose, head)) && clock.now().getTime() < ends
    },
  }
}
