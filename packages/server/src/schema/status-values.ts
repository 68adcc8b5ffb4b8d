/** Whether a device may authenticate, or how near it is to being blocked. */
export const AUTH_STATES = ['Good', 'Notified', 'Will Block', 'Blocked'] as const

export type AuthState = (typeof AUTH_STATES)[number]

/** What receivers are told of a device, by the organisation's threshold. */
export type Compliance = 'compliant' | 'not-compliant'

/** What a failing check does to the device. */
export type RemediationStrategy =
  'block_immediately' | 'warn_then_block' | 'notify_only' | 'report_only'

/** What a check says of one device or person. */
export type CheckStatus =
  | 'unknown'
  | 'passing'
  | 'failing'
  | 'errored'
  | 'inapplicable'
  | 'stale'
  | 'pending'
  | 'out_of_scope'

/** Who brought a change about, in the words of CAEP. */
export type InitiatingEntity = 'admin' | 'user' | 'policy' | 'system'
