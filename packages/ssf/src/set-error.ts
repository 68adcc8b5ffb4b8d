/** Registered error codes for a refused SET. RFC 8935 section 2.4, SSF 1.0 section 11. */
export const SET_ERROR_CODES = [
  'invalid_request',
  'invalid_key',
  'invalid_issuer',
  'invalid_audience',
  'authentication_failed',
  'access_denied',
  'invalid_state',
] as const

/** Registered error code for a refused SET. RFC 8935 section 2.4, SSF 1.0 section 11. */
export type SetErrorCode = (typeof SET_ERROR_CODES)[number]

/** Why a receiver refused a SET, as it is sent. RFC 8935 section 2.3, RFC 8936 section 2.6. */
export interface SetError {
  readonly err: SetErrorCode
  readonly description: string
}

/** Tells whether an error code is registered. */
export function isSetErrorCode(code: unknown): code is SetErrorCode {
  return SET_ERROR_CODES.some((known) => known === code)
}

/**
 * Tells whether sending the same SET again can succeed after the operators of either side have
 * mended something (keys, credentials); a malformed or wrongly addressed SET stays so. RFC 8935
 * section 2.
 */
export function isRecoverableSetError(code: SetErrorCode): boolean {
  switch (code) {
    case 'invalid_key':
    case 'authentication_failed':
    case 'access_denied':
      return true
    case 'invalid_request':
    case 'invalid_issuer':
    case 'invalid_audience':
    case 'invalid_state':
      return false
  }
}
