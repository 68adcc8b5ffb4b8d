import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'

const TXN = '01KE0000000000000000000000'

/** The claims of a compliance change as large as the service makes them; they become the signed payload. */
export function complianceChangeClaims(jti: string, deviceId: string, txn: string = TXN): object {
  return {
    iss: 'http://127.0.0.1:8080',
    aud: 'https://receiver.example.com/events',
    jti,
    iat: 1_767_323_045,
    txn,
    sub_id: {
      format: 'complex',
      device: { format: 'iss_sub', iss: 'http://127.0.0.1:8080', sub: deviceId },
      user: { format: 'email', email: 'robin.sparrow@example.com' },
      tenant: { format: 'opaque', id: 'default' },
    },
    events: {
      [DEVICE_COMPLIANCE_CHANGE]: {
        previous_status: 'compliant',
        current_status: 'not-compliant',
        event_timestamp: 1_767_323_045,
        initiating_entity: 'policy',
        reason_admin: { en: 'The check "Disk encryption" fails: the disk is not encrypted.' },
        reason_user: { en: 'Your device is blocked: the disk is not encrypted.' },
      },
    },
  }
}
