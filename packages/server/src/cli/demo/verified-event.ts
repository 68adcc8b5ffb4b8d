import { DEVICE_COMPLIANCE_CHANGE, type SubjectIdentifier } from '@heliograph/ssf'
import type { VerifiedSet } from '@heliograph/receiver'
import { decodeTime, isValid } from 'ulid'

/** The two ways in which events reach the demo. */
export const METHODS = ['push', 'poll'] as const
export type Method = (typeof METHODS)[number]

/** An event whose signature and claims were found good, as the demo shows it. */
export interface VerifiedEvent {
  readonly method: Method
  readonly receivedAtMs: number
  readonly jti: string
  /** Undefined when the event is about no device. */
  readonly deviceId: string | undefined
  /** Undefined for events of another kind than a change of compliance. */
  readonly previousStatus: string | undefined
  readonly currentStatus: string | undefined
  /** The last part of the type's URI. */
  readonly kind: string
  /**
   * Milliseconds from the change of the status to the end of its verification here. `event_timestamp`
   * has whole seconds only; the change began at the time in `txn`, a ULID, by the clock of this same
   * machine. Undefined when `txn` is none.
   */
  readonly latencyMs: number | undefined
}

/** Reduces a verified SET to what is shown of it. */
export function toVerifiedEvent(
  set: VerifiedSet,
  method: Method,
  receivedAtMs: number,
): VerifiedEvent {
  const { event } = set
  const isChange = event.isKnown && event.type === DEVICE_COMPLIANCE_CHANGE
  return {
    method,
    receivedAtMs,
    jti: set.jti,
    deviceId: findDeviceId(set.subject),
    previousStatus: isChange ? event.payload.previous_status : undefined,
    currentStatus: isChange ? event.payload.current_status : undefined,
    kind: event.type.split('/').at(-1) ?? event.type,
    latencyMs: toLatencyMs(set.txn, receivedAtMs),
  }
}

function findDeviceId(subject: SubjectIdentifier): string | undefined {
  if (subject.format !== 'complex') return undefined
  const { device } = subject
  return device?.format === 'iss_sub' ? device.sub : undefined
}

function toLatencyMs(txn: string | undefined, receivedAtMs: number): number | undefined {
  if (txn === undefined || !isValid(txn)) return undefined
  return Math.max(0, receivedAtMs - decodeTime(txn))
}
