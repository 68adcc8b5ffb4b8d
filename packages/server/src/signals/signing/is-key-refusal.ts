/**
 * Whether a receiver's error is about the key that signed the SET: `invalid_key`, or
 * `authentication_failed` with words about a key or signature. RFC 8935 section 2.4.
 */
export function isKeyRefusal(errorCode: string, words: string): boolean {
  if (errorCode === 'invalid_key') return true
  return (
    errorCode === 'authentication_failed' &&
    /\b(?:keys?|kid|jwks?|signatures?|signed)\b/i.test(words)
  )
}
