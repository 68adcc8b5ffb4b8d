// What is known of one subject, and which of two statements about it is the later one.
import {
  DEVICE_COMPLIANCE_CHANGE,
  readStreamSequence,
  type ComplianceStatus,
  type StreamState,
  type StreamSubjectState,
  type SubjectIdentifier,
} from '@heliograph/ssf'
import type { VerifiedSet } from '../verify-set.ts'

/** The latest known compliance of a subject. */
export interface ComplianceEntry {
  /** The subject as the latest statement named it. */
  readonly subject: SubjectIdentifier
  readonly status: ComplianceStatus
  /** When the status began, in seconds since the epoch. */
  readonly eventTimestamp: number
  /** When the transmitter said so, in seconds since the epoch. */
  readonly issuedAt: number
  /** The number of the SET that said so, where the stream is numbered. */
  readonly sequence?: number
  /** The SET that said so; absent when only the state of the stream did. */
  readonly jti?: string
}

/** A change of what is known about a subject; undefined means that nothing is known. */
export interface ComplianceChange {
  readonly subject: SubjectIdentifier
  readonly previous: ComplianceStatus | undefined
  readonly current: ComplianceStatus | undefined
}

/**
 * The key under which a subject is stored. Of a complex subject its device counts, where it has
 * one: a device stays itself when its owner changes. Otherwise the whole subject counts.
 */
export function toComplianceKey(subject: SubjectIdentifier): string {
  const device = subject.format === 'complex' ? subject.device : undefined
  return toCanonicalJson(device ?? subject)
}

/** Reads a compliance change; undefined for every other event. */
export function toComplianceEntry(set: VerifiedSet): ComplianceEntry | undefined {
  if (!set.event.isKnown || set.event.type !== DEVICE_COMPLIANCE_CHANGE) return undefined
  const { current_status, event_timestamp } = set.event.payload
  const sequence = readStreamSequence(set.claims)
  return {
    subject: set.subject,
    status: current_status,
    eventTimestamp: event_timestamp === undefined ? set.iat : toSeconds(event_timestamp),
    issuedAt: set.iat,
    ...(sequence === undefined ? {} : { sequence }),
    jti: set.jti,
  }
}

/** Reads one subject of the state of a stream. */
export function fromSubjectState(
  { sub_id, status, event_timestamp, sequence, jti }: StreamSubjectState,
  page: Pick<StreamState, 'as_of'>,
): ComplianceEntry {
  return {
    subject: sub_id,
    status,
    eventTimestamp: toSeconds(event_timestamp),
    issuedAt: page.as_of,
    ...(sequence === null ? {} : { sequence }),
    ...(jti === null ? {} : { jti }),
  }
}

/**
 * Tells whether an event is older than what is known: by the time of the event, then by the number
 * of the SET where both have one, then by the time of issue. Events that nothing of this tells
 * apart count in the order in which they come.
 */
export function isOutdated(entry: ComplianceEntry, known: ComplianceEntry): boolean {
  if (entry.eventTimestamp !== known.eventTimestamp) {
    return entry.eventTimestamp < known.eventTimestamp
  }
  if (entry.sequence !== undefined && known.sequence !== undefined) {
    return entry.sequence < known.sequence
  }
  return entry.issuedAt < known.issuedAt
}

/**
 * Tells whether what is known came after a page of the state was read, so that the page does not
 * count against it.
 */
export function isAfterPage(
  known: ComplianceEntry,
  page: Pick<StreamState, 'as_of' | 'as_of_sequence'>,
): boolean {
  if (known.sequence !== undefined && page.as_of_sequence > 0) {
    return known.sequence > page.as_of_sequence
  }
  return known.issuedAt > page.as_of
}

/**
 * Tells whether what is known stays although a page of the state says something else: it came after
 * the page was read, or within the same second and tells a later event.
 */
export function outlastsPage(
  known: ComplianceEntry,
  entry: ComplianceEntry,
  page: Pick<StreamState, 'as_of' | 'as_of_sequence'>,
): boolean {
  if (isAfterPage(known, page)) return true
  const isNumbered = known.sequence !== undefined && page.as_of_sequence > 0
  if (isNumbered || known.issuedAt < Math.floor(page.as_of)) return false
  return known.eventTimestamp > entry.eventTimestamp
}

/**
 * Tells whether a page of the state says again what is known: nothing differs but when it was said, and that decides
 * nothing. It does for a SET without a number: a state that was read after it counts against another one of the same
 * second that comes late.
 */
export function isSaidAgain(known: ComplianceEntry, entry: ComplianceEntry): boolean {
  const isTimeless = entry.sequence !== undefined || entry.jti === undefined
  return isTimeless && isSameEntry({ ...known, issuedAt: entry.issuedAt }, entry)
}

/** Tells whether two entries are one and the same statement. */
export function isSameEntry(
  left: ComplianceEntry | undefined,
  right: ComplianceEntry | undefined,
): boolean {
  return left === right || toCanonicalJson(left ?? null) === toCanonicalJson(right ?? null)
}

/** Read as seconds, values from here on lie beyond the year 5000: older drafts used milliseconds. */
const MILLISECOND_EPOCHS_FROM = 100_000_000_000

/** A time of an event in seconds since the epoch. */
export function toSeconds(timestamp: number): number {
  return timestamp >= MILLISECOND_EPOCHS_FROM ? timestamp / 1000 : timestamp
}

/** JSON whose members are in the order of their names, so that equal subjects are equal texts. */
function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
