import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../app-error.ts'

/** RFC 6750 section 2.1; the scheme in any case (RFC 9110 section 11.1). */
const BEARER = /^Bearer +([\w.~+/=-]{1,4096}) *$/i

/**
 * The token of an `Authorization: Bearer` header. Nowhere else is one looked for.
 *
 * @throws AppError `unauthenticated` when there is none.
 */
export function readBearerToken(headers: IncomingHttpHeaders): string {
  const token = BEARER.exec(headers.authorization ?? '')?.[1]
  if (token !== undefined) return token
  throw new AppError(
    'unauthenticated',
    headers.authorization === undefined
      ? 'The request carries no credential. Send `Authorization: Bearer <API key>`.'
      : 'The `Authorization` header is not of the form `Bearer <API key>`.',
  )
}
