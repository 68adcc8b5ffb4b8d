import { AppError } from './app-error.ts'
import { toStorableText } from './storable-text.ts'

const NAME_LENGTH_MAX = 200
/** RFC 5321 section 4.5.3.1.3 allows a path of 256 octets with its angle brackets. */
export const EMAIL_LENGTH_MAX = 254
/** Nothing that ends an address, and nothing that cannot be seen or stored. */
const EMAIL_PATTERN =
  /^[^\s\p{Cc}\p{Cs}@<>"(),:;[\]\\]+@[^\s\p{Cc}\p{Cs}@.<>"(),:;[\]\\]+(\.[^\s\p{Cc}\p{Cs}@.<>"(),:;[\]\\]+)*$/u

/** Whether a text has the form of one email address. */
export function isEmail(text: string): boolean {
  return text.length <= EMAIL_LENGTH_MAX && EMAIL_PATTERN.test(text)
}

/**
 * One email address, trimmed.
 *
 * @throws AppError `invalid_body` naming `path`
 */
export function parseEmail(text: string, path: string): string {
  const email = text.trim()
  if (isEmail(email)) return email
  throw invalid(path, 'must be one email address, such as person@example.com')
}

/**
 * A name of 1 to 200 characters, trimmed.
 *
 * @throws AppError `invalid_body` naming `path`
 */
export function parseName(text: string, path: string): string {
  const name = toStorableText(text.trim())
  if (name.length > 0 && name.length <= NAME_LENGTH_MAX) return name
  throw invalid(path, `must have 1 to ${NAME_LENGTH_MAX} characters`)
}

function invalid(path: string, message: string): AppError {
  return new AppError('invalid_body', `${path} ${message}.`, {
    details: [{ path, message }],
  })
}
