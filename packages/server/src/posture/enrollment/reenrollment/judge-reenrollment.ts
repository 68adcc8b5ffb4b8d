/*
 * Whether a machine may take the place of a device that is known: pure, so that every combination can be
 * tested. What it says of itself anybody could say who has read the list of devices; what counts is what
 * only the machine, its owner or an admin has.
 */
import { timingSafeEqual } from 'node:crypto'
import { HOUR_MS } from '../../../platform/clock.ts'
import type { ReenrollmentRequest } from './reenrollment-request-read.ts'

/** What is known of the device whose place is asked for. */
export interface KnownHost {
  readonly ownerPersonId: string | null
  /** Null once the key has ended. */
  readonly nodeKeyHash: Buffer | null
  readonly enrolledAt: Date | null
  readonly enrolledFrom: string | null
  /** When the node key was last used; before `enrolledAt` as long as the present one was not. */
  readonly lastSeenAt: Date | null
}

/** What a machine comes with. */
export interface Claim {
  readonly at: Date
  readonly ipAddress: string | null
  /** The person that the enrollment secret is bound to. */
  readonly secretPersonId: string | null
  /** Of the node key that the machine has shown, if it has. */
  readonly nodeKeyHash: Buffer | undefined
  /** What it asked for before. */
  readonly request:
    Pick<ReenrollmentRequest, 'status' | 'approvedUntil' | 'requestedAt'> | undefined
}

/** Why a machine may take the place of a device; recorded with the enrollment. */
export type ReenrollmentBasis =
  /** It showed the node key of the device. */
  | 'node_key_proven'
  /** An admin has approved it. */
  | 'approved'
  /** The secret is bound to the owner of the device. */
  | 'owners_secret'
  /** The node key was revoked. */
  | 'node_key_ended'
  /** The key has just been made, was never used, and went to the same address: its answer was lost on the way. */
  | 'node_key_unused'
  /** The key has not been used for long. */
  | 'node_key_silent'

export type Judgement =
  | { readonly kind: 'admitted'; readonly basis: ReenrollmentBasis }
  | { readonly kind: 'held'; readonly reason: 'live_node_key' | 'other_owner' }

/** How long an agent whose answer was lost may take to ask again; behind one address stand many machines. */
const LOST_ANSWER_MS = HOUR_MS

/** Judges a machine that claims to be a known host. A key counts as alive for `aliveMs` after its last use. */
export function judgeReenrollment(known: KnownHost, claim: Claim, aliveMs: number): Judgement {
  const { request } = claim
  if (isProven(known, claim)) return admitted('node_key_proven')
  if (isApproved(claim)) return admitted('approved')
  const hasOwnersSecret = isOwnersSecret(known, claim)
  if (hasOwnersSecret === false) return { kind: 'held', reason: 'other_owner' }
  if (request?.status === 'denied') return { kind: 'held', reason: 'live_node_key' }
  if (hasOwnersSecret === true) return admitted('owners_secret')
  if (known.nodeKeyHash === null) return admitted('node_key_ended')
  if (isAnswerLost(known, claim)) return admitted('node_key_unused')
  const usedMs = toLastUseMs(known)
  // A key that was used after another machine had asked is in the hands of somebody, however long ago.
  const isContested = request !== undefined && usedMs > request.requestedAt.getTime()
  const isAlive = usedMs > claim.at.getTime() - aliveMs
  return isAlive || isContested
    ? { kind: 'held', reason: 'live_node_key' }
    : admitted('node_key_silent')
}

function admitted(basis: ReenrollmentBasis): Judgement {
  return { kind: 'admitted', basis }
}

function isProven(known: KnownHost, claim: Claim): boolean {
  return (
    known.nodeKeyHash !== null &&
    claim.nodeKeyHash !== undefined &&
    timingSafeEqual(known.nodeKeyHash, claim.nodeKeyHash)
  )
}

/** Undefined where the secret is bound to nobody, or the device has no owner. */
function isOwnersSecret(known: KnownHost, claim: Claim): boolean | undefined {
  if (claim.secretPersonId === null || known.ownerPersonId === null) return undefined
  return claim.secretPersonId === known.ownerPersonId
}

function isApproved({ request, at }: Claim): boolean {
  return (
    request?.status === 'approved' && request.approvedUntil !== null && request.approvedUntil > at
  )
}

function isAnswerLost({ enrolledAt, enrolledFrom, lastSeenAt }: KnownHost, claim: Claim): boolean {
  if (enrolledAt === null || enrolledFrom !== claim.ipAddress) return false
  const isUnused = lastSeenAt === null || lastSeenAt <= enrolledAt
  return isUnused && enrolledAt.getTime() > claim.at.getTime() - LOST_ANSWER_MS
}

function toLastUseMs({ enrolledAt, lastSeenAt }: KnownHost): number {
  return Math.max(enrolledAt?.getTime() ?? 0, lastSeenAt?.getTime() ?? 0)
}
