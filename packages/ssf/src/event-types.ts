/** Base of the CAEP event type URIs (CAEP 1.0 section 3). */
export const CAEP_EVENT_TYPE_BASE = 'https://schemas.openid.net/secevent/caep/event-type/'

/** Base of the SSF event type URIs (SSF 1.0 section 8.1.4). */
export const SSF_EVENT_TYPE_BASE = 'https://schemas.openid.net/secevent/ssf/event-type/'

/** A device's compliance status changed. CAEP 1.0 section 3.5. */
export const DEVICE_COMPLIANCE_CHANGE =
  'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'

/** A session was revoked. CAEP 1.0 section 3.1. */
export const SESSION_REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked'

/** Claims of an issued token changed. CAEP 1.0 section 3.2. */
export const TOKEN_CLAIMS_CHANGE =
  'https://schemas.openid.net/secevent/caep/event-type/token-claims-change'

/** A credential was created, changed, revoked or deleted. CAEP 1.0 section 3.3. */
export const CREDENTIAL_CHANGE =
  'https://schemas.openid.net/secevent/caep/event-type/credential-change'

/** The assurance level of a principal changed. CAEP 1.0 section 3.4. */
export const ASSURANCE_LEVEL_CHANGE =
  'https://schemas.openid.net/secevent/caep/event-type/assurance-level-change'

/** A session was established. CAEP 1.0 section 3.6. */
export const SESSION_ESTABLISHED =
  'https://schemas.openid.net/secevent/caep/event-type/session-established'

/** A session was presented. CAEP 1.0 section 3.7. */
export const SESSION_PRESENTED =
  'https://schemas.openid.net/secevent/caep/event-type/session-presented'

/** The risk level of a principal changed. CAEP 1.0 section 3.8. */
export const RISK_LEVEL_CHANGE =
  'https://schemas.openid.net/secevent/caep/event-type/risk-level-change'

/** A receiver asked for, or a transmitter volunteered, a proof of delivery. SSF 1.0 section 8.1.4.1. */
export const VERIFICATION = 'https://schemas.openid.net/secevent/ssf/event-type/verification'

/** The transmitter changed the status of the stream. SSF 1.0 section 8.1.5. */
export const STREAM_UPDATED = 'https://schemas.openid.net/secevent/ssf/event-type/stream-updated'

/** The types of events about the stream itself. SSF 1.0 sections 8.1.4 and 8.1.5. */
export const STREAM_EVENT_TYPES: readonly string[] = [VERIFICATION, STREAM_UPDATED]

/**
 * Tells whether an event is about the stream itself; such events need not be requested, are always
 * allowed, and name the stream as their subject. SSF 1.0 sections 8.1.4 and 8.1.5.
 */
export function isStreamEventType(eventType: string): boolean {
  return STREAM_EVENT_TYPES.includes(eventType)
}
