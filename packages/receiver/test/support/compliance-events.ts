import type { ComplianceStatus, SubjectIdentifier } from '@heliograph/ssf'
import { parseSetClaims } from '@heliograph/ssf'
import type { VerifiedSet } from '../../src/index.ts'
import { goodClaims, ISSUER, NOW_MS } from './signing.ts'

export const NOW = NOW_MS / 1000

export interface EventInput {
  readonly device?: string
  readonly user?: string
  readonly status: ComplianceStatus
  readonly at?: number
  readonly iat?: number
  readonly sequence?: number
  readonly jti?: string
}

export function deviceSubject(sub: string): SubjectIdentifier {
  return { format: 'iss_sub', iss: ISSUER, sub }
}

export function eventOf({
  device = 'd1',
  status,
  at,
  iat = NOW,
  ...rest
}: EventInput): VerifiedSet {
  const claims = goodClaims({
    jti: rest.jti ?? crypto.randomUUID(),
    issuedAtMs: iat * 1000,
    subject: {
      format: 'complex',
      device: { sub: device, iss: ISSUER, format: 'iss_sub' },
      user: { format: 'email', email: rest.user ?? 'user@example.com' },
    },
    event: {
      type: 'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change',
      payload: {
        previous_status: status === 'compliant' ? 'not-compliant' : 'compliant',
        current_status: status,
        ...(at === undefined ? {} : { event_timestamp: at }),
      },
    },
    extraClaims: rest.sequence === undefined ? {} : { heliograph_sequence: rest.sequence },
  })
  const parsed = parseSetClaims({ typ: 'secevent+jwt' }, claims, {
    issuer: ISSUER,
    nowMs: NOW_MS * 2,
    clockToleranceSeconds: 0,
  })
  if (!parsed.ok) throw new Error(parsed.description)
  return { ...parsed.set, token: '', header: { alg: 'RS256' } }
}
