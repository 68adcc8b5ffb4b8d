import type { Assurance } from '../../schema/tables/sign-in-tables.ts'
import type { TokenSession } from './device-claims-read.ts'

/** How strongly the device was known, as authentication context class references. */
export const ACR_OF = {
  live: 'urn:heliograph:device:live',
  hardware: 'urn:heliograph:device:hardware',
  approved: 'urn:heliograph:device:approved',
  key: 'urn:heliograph:device:key',
  none: 'urn:heliograph:device:none',
} as const satisfies Record<Assurance, string>

/** How the device was proven, as authentication methods. RFC 8176 section 2. */
const AMR_OF = {
  live: 'pop',
  hardware: 'hwk',
  approved: 'user',
  key: 'swk',
  none: undefined,
} as const

/** The methods by which the person and the device were authenticated. */
export function toAmr(personMethods: readonly string[], assurance: Assurance): string[] {
  const device = AMR_OF[assurance]
  return [...new Set([...personMethods, ...(device === undefined ? [] : [device])])]
}

/** Every claim of a session; which of them a token has is decided by its scopes. */
export function toSessionClaims(session: TokenSession): Record<string, unknown> {
  const { deviceId, authState, willBlockAt } = session
  return {
    email: session.personEmail,
    // Whoever told the address has verified it or is trusted to: an identity provider, or an admin.
    email_verified: true,
    name: session.personName,
    preferred_username: session.personEmail,
    ...(deviceId === null
      ? {}
      : {
          device_id: deviceId,
          device_auth_state: authState,
          device_will_block_at: willBlockAt?.toISOString() ?? null,
        }),
    ...(session.isSerialClaimed && session.deviceSerial !== null
      ? { device_serial: session.deviceSerial }
      : {}),
    ...(session.claimsProfile === 'okta' ? { device_context: toDeviceContext(session) } : {}),
  }
}

/** Okta, "Integrate with a device posture provider". */
function toDeviceContext({ deviceId, isRegistered, compliance }: TokenSession) {
  return {
    managed: deviceId !== null && isRegistered,
    compliant: deviceId !== null && compliance === 'compliant',
    externalId: deviceId ?? '',
  }
}
