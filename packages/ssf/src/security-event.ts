import type { z } from 'zod'
import {
  deviceComplianceChangeSchema,
  type DeviceComplianceChange,
} from './caep/device-compliance-change.ts'
import {
  credentialChangeSchema,
  tokenClaimsChangeSchema,
  type CredentialChange,
  type TokenClaimsChange,
} from './caep/credential-events.ts'
import {
  assuranceLevelChangeSchema,
  riskLevelChangeSchema,
  type AssuranceLevelChange,
  type RiskLevelChange,
} from './caep/level-events.ts'
import {
  sessionEstablishedSchema,
  sessionPresentedSchema,
  sessionRevokedSchema,
  type SessionEstablished,
  type SessionPresented,
  type SessionRevoked,
} from './caep/session-events.ts'
import * as types from './event-types.ts'
import { parseWithSchema, type ParseResult } from './parse-result.ts'
import { streamUpdatedSchema, type StreamUpdated } from './ssf/stream-updated.ts'
import { verificationSchema, type Verification } from './ssf/verification.ts'

/** The payload type of each event type that is understood. */
export interface KnownEventPayloads {
  readonly [types.DEVICE_COMPLIANCE_CHANGE]: DeviceComplianceChange
  readonly [types.SESSION_REVOKED]: SessionRevoked
  readonly [types.TOKEN_CLAIMS_CHANGE]: TokenClaimsChange
  readonly [types.CREDENTIAL_CHANGE]: CredentialChange
  readonly [types.ASSURANCE_LEVEL_CHANGE]: AssuranceLevelChange
  readonly [types.SESSION_ESTABLISHED]: SessionEstablished
  readonly [types.SESSION_PRESENTED]: SessionPresented
  readonly [types.RISK_LEVEL_CHANGE]: RiskLevelChange
  readonly [types.VERIFICATION]: Verification
  readonly [types.STREAM_UPDATED]: StreamUpdated
}

/** A type URI that is understood. */
export type KnownEventType = keyof KnownEventPayloads

/** An event whose payload conforms to the definition of its type; switch on `type`. */
export type KnownSecurityEvent = {
  [Type in KnownEventType]: {
    readonly isKnown: true
    readonly type: Type
    readonly payload: KnownEventPayloads[Type]
  }
}[KnownEventType]

/** An event of a type that is not understood; its payload is an object, and nothing more is known. */
export interface UnknownSecurityEvent {
  readonly isKnown: false
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** One event of a SET: known events are checked against their definition, unknown ones are kept. */
export type SecurityEvent = KnownSecurityEvent | UnknownSecurityEvent

const SCHEMAS: { readonly [Type in KnownEventType]: z.ZodType } = {
  [types.DEVICE_COMPLIANCE_CHANGE]: deviceComplianceChangeSchema,
  [types.SESSION_REVOKED]: sessionRevokedSchema,
  [types.TOKEN_CLAIMS_CHANGE]: tokenClaimsChangeSchema,
  [types.CREDENTIAL_CHANGE]: credentialChangeSchema,
  [types.ASSURANCE_LEVEL_CHANGE]: assuranceLevelChangeSchema,
  [types.SESSION_ESTABLISHED]: sessionEstablishedSchema,
  [types.SESSION_PRESENTED]: sessionPresentedSchema,
  [types.RISK_LEVEL_CHANGE]: riskLevelChangeSchema,
  [types.VERIFICATION]: verificationSchema,
  [types.STREAM_UPDATED]: streamUpdatedSchema,
}

/** Tells whether the payload of this event type is understood. */
export function isKnownEventType(eventType: string): eventType is KnownEventType {
  return Object.hasOwn(SCHEMAS, eventType)
}

/**
 * Parses the payload of one event. Fails only when the type is known and the payload does not
 * conform to it, which RFC 8935 section 2.4 answers with `invalid_request`.
 */
export function parseSecurityEvent(
  type: string,
  payload: Readonly<Record<string, unknown>>,
): ParseResult<SecurityEvent> {
  if (!isKnownEventType(type)) return { ok: true, value: { isKnown: false, type, payload } }
  const parsed = parseWithSchema(SCHEMAS[type], payload)
  if (!parsed.ok) return parsed
  // The table above pairs each type with the schema of its payload.
  return { ok: true, value: { isKnown: true, type, payload: parsed.value } as KnownSecurityEvent }
}
