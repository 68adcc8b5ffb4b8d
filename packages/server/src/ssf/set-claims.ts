/*
 * The claims of the SETs that the service sends, as text: what is signed, byte for byte.
 */
import {
  buildDeviceComplianceChange,
  buildSetClaims,
  buildVerification,
  DEVICE_COMPLIANCE_CHANGE,
  VERIFICATION,
  type SetLayout,
  type SubjectIdentifier,
} from '@heliograph/ssf'
import type { DeviceStatusChange } from '../devices/device-status-change.ts'
import { toEpochSeconds } from '../platform/clock.ts'
import type { StreamRow } from './streams/stream-store.ts'

/** What SETs of one cause share. */
export interface SetCause {
  readonly txn: string
  /** When the change was made: the issue time. */
  readonly at: Date
}

const LAYOUT_OF_VERSION = {
  '1.0': 'v1.0',
  draft: 'draft',
  both: 'both',
} as const satisfies Record<StreamRow['spec_version'], SetLayout>

/**
 * The claims of a device compliance change for one stream. CAEP 1.0 section 3.5; `event_timestamp` is
 * the time of the change itself, in seconds. Undefined when the stream names people and nobody owns
 * the device.
 */
export function toComplianceClaims(
  stream: StreamRow,
  jti: string,
  statusChange: DeviceStatusChange,
  cause: SetCause,
): string | undefined {
  const subject = toDeviceSubject(stream, statusChange)
  if (subject === undefined) return undefined
  const payload = buildDeviceComplianceChange({
    previous_status: statusChange.previous.compliance,
    current_status: statusChange.current.compliance,
    event_timestamp: toEpochSeconds(statusChange.occurredAt),
    initiating_entity: statusChange.initiatingEntity,
    reason_admin: { en: toAdminReason(statusChange) },
    reason_user: { en: toUserReason(statusChange) },
  })
  return toClaims(stream, jti, cause, { subject, type: DEVICE_COMPLIANCE_CHANGE, payload })
}

/**
 * The claims of a verification event; its subject is the stream (SSF 1.0 section 8.1.4.1). A test
 * carries the address of whoever asked in a claim of its own.
 */
export function toVerificationClaims(
  stream: StreamRow,
  jti: string,
  cause: SetCause,
  details: { readonly state?: string; readonly testEmail?: string },
): string {
  const subject = { format: 'opaque', id: stream.stream_id } as const
  const payload = buildVerification(details.state)
  const extraClaims = details.testEmail === undefined ? {} : { test_email: details.testEmail }
  return toClaims(stream, jti, cause, { subject, type: VERIFICATION, payload, extraClaims })
}

interface SetContents {
  readonly subject: SubjectIdentifier
  readonly type: string
  readonly payload: object
  readonly extraClaims?: Readonly<Record<string, unknown>>
}

function toClaims(stream: StreamRow, jti: string, cause: SetCause, contents: SetContents): string {
  return JSON.stringify(
    buildSetClaims({
      iss: stream.issuer,
      aud: stream.audience,
      jti,
      issuedAtMs: cause.at.getTime(),
      txn: cause.txn,
      layout: LAYOUT_OF_VERSION[stream.spec_version],
      subject: contents.subject,
      event: { type: contents.type, payload: contents.payload },
      extraClaims: contents.extraClaims ?? {},
    }),
  )
}

function toDeviceSubject(
  stream: StreamRow,
  { device }: DeviceStatusChange,
): SubjectIdentifier | undefined {
  const deviceSubject = { format: 'iss_sub', iss: stream.issuer, sub: device.id } as const
  const owner =
    device.owner === null ? undefined : ({ format: 'email', email: device.owner.email } as const)
  switch (stream.subject_form) {
    case 'iss_sub':
      return deviceSubject
    case 'email':
      return owner
    case 'complex':
      return {
        format: 'complex',
        device: deviceSubject,
        ...(owner === undefined ? {} : { user: owner }),
        tenant: { format: 'opaque', id: new URL(stream.issuer).host },
      }
  }
}

/** As many issues as a sentence can name. */
const NAMED_MAX = 5

function toAdminReason({ device, current, reasons }: DeviceStatusChange): string {
  const issues = reasons.slice(0, NAMED_MAX).map(({ issueTitle }) => issueTitle)
  const more = reasons.length > NAMED_MAX ? ` and ${reasons.length - NAMED_MAX} more` : ''
  const because = issues.length === 0 ? '' : `: ${issues.join('; ')}${more}`
  return `The device ${device.name} is ${current.compliance} (${current.authState})${because}`
}

function toUserReason({ current, reasons }: DeviceStatusChange): string {
  if (current.compliance === 'compliant') return 'Your device meets the requirements.'
  const [first] = reasons
  if (first === undefined) return 'Your device does not meet the requirements.'
  return `Your device does not meet the requirements: ${first.issueTitle}`
}
