import type { SealContext } from '../../platform/secrets/sealed-box.ts'

/** The place of a sealed authorization header. */
export function authorizationHeaderContext(streamId: string): SealContext {
  return { table: 'ssf_stream', column: 'authorization_header_sealed', id: streamId }
}

const LENGTH_MAX = 4_096

/** Visible ASCII with single spaces or tabs inside: what an Authorization value may contain, on one line. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/

/**
 * A sentence about why a value cannot be sent as an `Authorization` header, or undefined when it can.
 * Line breaks would let it add headers of its own. The value is not repeated, because it is a secret.
 */
export function findAuthorizationHeaderProblem(value: string): string | undefined {
  if (value.length > LENGTH_MAX) return `Must be at most ${LENGTH_MAX} characters long.`
  if (!VALUE.test(value)) {
    return 'Must be printable ASCII on one line, without spaces at the ends.'
  }
  return undefined
}
