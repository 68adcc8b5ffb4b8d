import {
  DEVICE_COMPLIANCE_CHANGE,
  SESSION_REVOKED,
  STREAM_UPDATED,
  VERIFICATION,
  type LocalizedText,
  type SubjectIdentifier,
} from '@heliograph/ssf'
import type { VerifiedSet } from '../verify-set.ts'
import { printable } from './text-output.ts'

/** One received event, as `--json` prints it. Ages are in seconds. */
export interface EventRecord {
  readonly received_at: string
  readonly jti: string
  readonly iss: string
  readonly txn?: string
  readonly event_type: string
  readonly subject: SubjectIdentifier
  readonly event: unknown
  /** From `iat`, which is in whole seconds, to receipt. */
  readonly age_since_issue_seconds: number
  /** From `event_timestamp` to receipt. */
  readonly age_since_event_seconds?: number
}

/** Describes a received event for machines. */
export function toEventRecord(set: VerifiedSet, receivedAtMs: number): EventRecord {
  const eventMs = eventTimestampMs(set)
  return {
    received_at: new Date(receivedAtMs).toISOString(),
    jti: set.jti,
    iss: set.iss,
    ...(set.txn === undefined ? {} : { txn: set.txn }),
    event_type: set.event.type,
    subject: set.subject,
    event: set.event.payload,
    age_since_issue_seconds: secondsBetween(set.iat * 1000, receivedAtMs),
    ...(eventMs === undefined
      ? {}
      : { age_since_event_seconds: secondsBetween(eventMs, receivedAtMs) }),
  }
}

/** Describes a received event for people, in one line. */
export function toEventLine(set: VerifiedSet, receivedAtMs: number): string {
  const record = toEventRecord(set, receivedAtMs)
  const age = record.age_since_event_seconds ?? record.age_since_issue_seconds
  const name = set.event.type.split('/').at(-1) ?? set.event.type
  const parts = [
    record.received_at,
    name,
    describeEvent(set),
    describeSubject(set.subject),
    `jti=${set.jti}`,
    `age=${age.toFixed(1)}s`,
  ]
  return printable(parts.filter((part) => part !== '').join('  '))
}

function describeEvent({ event }: VerifiedSet): string {
  if (!event.isKnown) return ''
  switch (event.type) {
    case DEVICE_COMPLIANCE_CHANGE:
      return `${event.payload.previous_status} -> ${event.payload.current_status}`
    case SESSION_REVOKED:
      return describeReason(event.payload.reason_admin ?? event.payload.reason_user)
    case VERIFICATION:
      return event.payload.state === undefined ? '' : `state=${event.payload.state}`
    case STREAM_UPDATED:
      return `status=${event.payload.status}`
    default:
      return ''
  }
}

function describeReason(reason: LocalizedText | undefined): string {
  const text = Object.values(reason ?? {}).at(0)
  return text === undefined ? '' : `reason="${text}"`
}

function describeSubject(subject: SubjectIdentifier): string {
  if (subject.format !== 'complex') return `subject=${valueOf(subject)}`
  return Object.entries(subject)
    .filter(([name]) => name !== 'format')
    .map(([name, member]) => `${name}=${valueOf(member)}`)
    .join(' ')
}

/** The value that tells subjects apart, without format and issuer. */
function valueOf(subject: unknown): string {
  if (typeof subject !== 'object' || subject === null) return ''
  const members = Object.entries(subject).filter(([name]) => name !== 'format' && name !== 'iss')
  const value: unknown = members.at(-1)?.[1]
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Read as seconds, values from here on lie beyond the year 5000: older drafts used milliseconds. */
const MILLISECOND_EPOCHS_FROM = 100_000_000_000

/** When the thing itself happened, in milliseconds since the epoch, if the event says so. */
export function eventTimestampMs({ event }: VerifiedSet): number | undefined {
  const payload: object = event.payload
  const timestamp: unknown = 'event_timestamp' in payload ? payload.event_timestamp : undefined
  if (typeof timestamp !== 'number') return undefined
  return timestamp >= MILLISECOND_EPOCHS_FROM ? timestamp : timestamp * 1000
}

function secondsBetween(startMs: number, endMs: number): number {
  return Math.round(endMs - startMs) / 1000
}
