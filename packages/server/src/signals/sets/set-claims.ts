/*
 * The claims of the SETs that the service sends, as text: what is signed, byte for byte.
 */
import {
  buildDeviceComplianceChange,
  buildSessionRevoked,
  buildSetClaims,
  buildStreamUpdated,
  buildVerification,
  DEVICE_COMPLIANCE_CHANGE,
  SESSION_REVOKED,
  STREAM_UPDATED,
  VERIFICATION,
  type SetLayout,
  type SubjectIdentifier,
} from '@heliograph/ssf'
import type {
  DeviceStatusChange,
  DomainEventOf,
  SessionEndReason,
} from '../../changes/domain-event.ts'
import type { InitiatingEntity } from '../../schema/status-values.ts'
import { toEpochSeconds } from '../../platform/clock.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { toDeviceSubject, toSessionSubject, toStreamTxn } from './stream-identifiers.ts'
import type { Stream } from '../streams/stream-store.ts'

/** What SETs of one cause share. */
export interface SetCause {
  readonly txn: string
  /** The issue time: not before what is told. */
  readonly at: Date
}

const LAYOUT_OF_VERSION = {
  '1.0': 'v1.0',
  draft: 'draft',
  both: 'both',
} as const satisfies Record<Stream['specVersion'], SetLayout>

/**
 * The claims of a device compliance change for one stream, with the identifiers and reasons that the
 * stream has chosen. CAEP 1.0 section 3.5; `event_timestamp` is the time of the change itself, in seconds.
 * Undefined when the stream names people and nobody owns the device. `sealer` opens the secret of
 * pairwise identifiers.
 */
export function toComplianceClaims(
  stream: Stream,
  jti: string,
  statusChange: DeviceStatusChange,
  cause: SetCause,
  sealer: Pick<Sealer, 'open'>,
): string | undefined {
  const subject = toDeviceSubject(stream, statusChange.device, sealer)
  if (subject === undefined) return undefined
  const payload = buildDeviceComplianceChange({
    previous_status: statusChange.previous.compliance,
    current_status: statusChange.current.compliance,
    event_timestamp: toEpochSeconds(statusChange.occurredAt),
    initiating_entity: statusChange.initiatingEntity,
    ...toReasons(stream, statusChange),
  })
  const txn = toStreamTxn(stream, cause.txn, sealer)
  const contents = { subject, type: DEVICE_COMPLIANCE_CHANGE, payload }
  return toClaims(stream, jti, { ...cause, txn }, contents)
}

/**
 * The claims of a revoked session for one stream. CAEP 1.0 section 3.1. `sealer` opens the secret of pairwise
 * identifiers.
 */
export function toSessionRevokedClaims(
  stream: Stream,
  jti: string,
  ended: DomainEventOf<'sign_in_session.ended'>,
  cause: SetCause,
  sealer: Pick<Sealer, 'open'>,
): string {
  const { sid, deviceId, reason } = ended
  const person = { personId: ended.person.id, email: ended.person.email }
  const { initiator, admin, user } = SESSION_ENDS[reason]
  const fields = new Set(stream.reasonFields)
  const payload = buildSessionRevoked({
    event_timestamp: toEpochSeconds(cause.at),
    initiating_entity: initiator,
    ...(fields.has('reason_admin') ? { reason_admin: { en: admin } } : {}),
    ...(fields.has('reason_user') ? { reason_user: { en: user } } : {}),
  })
  const subject = toSessionSubject(stream, { sid, deviceId, person }, sealer)
  const txn = toStreamTxn(stream, cause.txn, sealer)
  return toClaims(stream, jti, { ...cause, txn }, { subject, type: SESSION_REVOKED, payload })
}

/** What a verification event may carry. */
export interface VerificationDetails {
  readonly state?: string
  /** Who asked for a test. */
  readonly testEmail?: string
  /** Marks what is sent to try something out: a receiver acts on none of it. */
  readonly test?: Readonly<Record<string, unknown>>
}

/**
 * The claims of a verification event; its subject is the stream (SSF 1.0 section 8.1.4.1). A test
 * carries the address of whoever asked in a claim of its own.
 */
export function toVerificationClaims(
  stream: Stream,
  jti: string,
  cause: SetCause,
  details: VerificationDetails,
): string {
  const subject = { format: 'opaque', id: stream.streamId } as const
  const payload = buildVerification(details.state)
  const extraClaims = {
    ...(details.testEmail === undefined ? {} : { test_email: details.testEmail }),
    ...(details.test === undefined ? {} : { test: details.test }),
  }
  return toClaims(stream, jti, cause, { subject, type: VERIFICATION, payload, extraClaims })
}

/** The claims by which a receiver learns the present status of its stream. SSF 1.0 section 8.1.5. */
export function toStreamUpdatedClaims(stream: Stream, jti: string, cause: SetCause): string {
  const subject = { format: 'opaque', id: stream.streamId } as const
  const payload = buildStreamUpdated(stream.status, stream.statusReason ?? undefined)
  return toClaims(stream, jti, cause, { subject, type: STREAM_UPDATED, payload })
}

interface SetContents {
  readonly subject: SubjectIdentifier
  readonly type: string
  readonly payload: object
  readonly extraClaims?: Readonly<Record<string, unknown>>
}

function toClaims(stream: Stream, jti: string, cause: SetCause, contents: SetContents): string {
  return JSON.stringify(
    buildSetClaims({
      iss: stream.issuer,
      aud: stream.audience,
      jti,
      issuedAtMs: cause.at.getTime(),
      txn: cause.txn,
      layout: LAYOUT_OF_VERSION[stream.specVersion],
      subject: contents.subject,
      event: { type: contents.type, payload: contents.payload },
      extraClaims: contents.extraClaims ?? {},
    }),
  )
}

/** Who ends sessions for each reason, and how that is said. */
const SESSION_ENDS: Readonly<
  Record<
    SessionEndReason,
    { readonly initiator: InitiatingEntity; readonly admin: string; readonly user: string }
  >
> = {
  device_blocked: {
    initiator: 'policy',
    admin: 'The device of the session is blocked.',
    user: 'Your device is blocked until its issues are resolved.',
  },
  device_gone: {
    initiator: 'admin',
    admin: 'The device of the session is to be deleted, or its agent was disabled.',
    user: 'Your device is not known any more.',
  },
  person_gone: {
    initiator: 'admin',
    admin: 'The person of the session was switched off.',
    user: 'Your account has been switched off.',
  },
  owner_changed: {
    initiator: 'admin',
    admin: 'The device of the session was registered to somebody else.',
    user: 'Your device was registered to somebody else.',
  },
  registration_ended: {
    initiator: 'admin',
    admin: 'The registration of the device of the session has ended.',
    user: 'The registration of your device has ended.',
  },
  admin: {
    initiator: 'admin',
    admin: 'An admin ended the session.',
    user: 'An admin ended your session.',
  },
  logout: {
    initiator: 'user',
    admin: 'The person has signed out.',
    user: 'You have signed out.',
  },
  application: {
    initiator: 'admin',
    admin: 'The application of the session was switched off.',
    user: 'The application was switched off.',
  },
  browser_key: {
    initiator: 'policy',
    admin: 'The key of the browser that had let the person in has ended.',
    user: 'The key of your browser has ended.',
  },
}

/** As many issues as a sentence can name. */
const NAMED_MAX = 5

function toReasons(stream: Stream, statusChange: DeviceStatusChange) {
  const fields = new Set(stream.reasonFields)
  const details = new Set(stream.reasonDetails)
  return {
    ...(fields.has('reason_admin')
      ? { reason_admin: { en: toAdminReason(statusChange, details) } }
      : {}),
    ...(fields.has('reason_user')
      ? { reason_user: { en: toUserReason(statusChange, details) } }
      : {}),
  }
}

type ReasonDetails = ReadonlySet<Stream['reasonDetails'][number]>

/** Told instead of what changed where nothing did. */
const RESTATED = '; told anew, because the database of the service was restored or replaced'

function toAdminReason(
  { device, current, reasons, isRestated }: DeviceStatusChange,
  details: ReasonDetails,
): string {
  // All issues of one check have its title.
  const titles = [...new Set(reasons.map(({ issueTitle }) => issueTitle))]
  const issues = titles.slice(0, NAMED_MAX)
  const more = titles.length > NAMED_MAX ? ` and ${titles.length - NAMED_MAX} more` : ''
  const isNamed = issues.length > 0 && details.has('issue_titles')
  const because = isNamed ? `: ${issues.join('; ')}${more}` : ''
  const name = details.has('device_name') ? ` ${device.name}` : ''
  const why = isRestated === true ? RESTATED : ''
  return `The device${name} is ${current.compliance} (${current.authState})${because}${why}`
}

function toUserReason({ current, reasons }: DeviceStatusChange, details: ReasonDetails): string {
  if (current.compliance === 'compliant') return 'Your device meets the requirements.'
  const [first] = reasons
  if (first === undefined || !details.has('issue_titles')) {
    return 'Your device does not meet the requirements.'
  }
  return `Your device does not meet the requirements: ${first.issueTitle}`
}
