/*
 * What people send by the forms of pages, and the proof that a page of the service sent it. Bounded in size and in the
 * number of fields; of a field that comes twice the first counts.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../../platform/app-error.ts'

export const FORM_MEDIA_TYPE = 'application/x-www-form-urlencoded'
export const FORM_BYTES_MAX = 16 * 1024
const FIELDS_MAX = 50

/** The fields of a form. */
export type FormBody = ReadonlyMap<string, string>

/**
 * Reads the body of a form (WHATWG URL, section 5.1).
 *
 * @throws AppError `invalid_body` for more fields than a page has, and for a character that no page can send on
 */
export function parseFormBody(text: string): FormBody {
  const fields = new Map<string, string>()
  let count = 0
  for (const [name, value] of new URLSearchParams(text)) {
    count += 1
    if (count > FIELDS_MAX) throw new AppError('invalid_body', 'The form has too many fields.')
    if (value.includes('\0')) throw new AppError('invalid_body', `${name} holds a NUL character.`)
    if (!fields.has(name)) fields.set(name, value)
  }
  return fields
}

/**
 * Refuses a form that a page of somebody else sent. Browsers name the site that sent it (Fetch Metadata), or at least
 * its origin; what names neither is refused.
 *
 * @throws AppError `cross_site_request`
 */
export function assertOwnForm(headers: IncomingHttpHeaders, origin: string): void {
  const site = headers['sec-fetch-site']
  const isOwn = site === undefined ? headers.origin === origin : site === 'same-origin'
  if (isOwn) return
  throw new AppError('cross_site_request', 'The form was sent by a page of another site.')
}
