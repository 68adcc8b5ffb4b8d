// What a receiver must know to end a session: which one, whose, on which device, since when and why.
import {
  SESSION_REVOKED,
  type InitiatingEntity,
  type LocalizedText,
  type SubjectIdentifier,
} from '@heliograph/ssf'
import { toSeconds } from './compliance/compliance-entry.ts'
import type { VerifiedSet } from './verify-set.ts'

/** A session that a transmitter has revoked. CAEP 1.0 section 3.1. */
export interface RevokedSession {
  /**
   * The session, for example by the `sid` of the ID token; undefined when every session is meant that matches the
   * others.
   */
  readonly session: SubjectIdentifier | undefined
  readonly user: SubjectIdentifier | undefined
  readonly device: SubjectIdentifier | undefined
  /** The whole subject; a simple one is none of the above. */
  readonly subject: SubjectIdentifier
  /** When it was revoked, in seconds since the epoch. */
  readonly revokedAt: number
  readonly initiatingEntity: InitiatingEntity | undefined
  readonly reasonAdmin: LocalizedText | undefined
  readonly reasonUser: LocalizedText | undefined
}

/** Reads a revoked session; undefined for every other event. */
export function toRevokedSession(set: VerifiedSet): RevokedSession | undefined {
  if (!set.event.isKnown || set.event.type !== SESSION_REVOKED) return undefined
  const { subject } = set
  const { event_timestamp, initiating_entity, reason_admin, reason_user } = set.event.payload
  const member = (name: 'session' | 'user' | 'device') =>
    subject.format === 'complex' ? subject[name] : undefined
  return {
    session: member('session'),
    user: member('user'),
    device: member('device'),
    subject,
    revokedAt: event_timestamp === undefined ? set.iat : toSeconds(event_timestamp),
    initiatingEntity: initiating_entity,
    reasonAdmin: reason_admin,
    reasonUser: reason_user,
  }
}
