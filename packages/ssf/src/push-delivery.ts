// Push delivery messages (RFC 8935): the constants of the request and the reading of the answer.
import { isSetErrorCode, type SetErrorCode } from './set-error.ts'

/** Media type of a pushed SET. RFC 8935 section 2.1. */
export const SET_MEDIA_TYPE = 'application/secevent+jwt'

/** Longest description that is kept, in characters; the rest is cut off. */
export const PUSH_ERROR_DESCRIPTION_LENGTH_MAX = 1024

/** What a receiver's answer other than 2xx says; every answer gives one. */
export interface PushError {
  readonly status: number
  /** The registered error code, when the answer carries one. */
  readonly code?: SetErrorCode
  /** The error word as it was sent, registered or not. */
  readonly err?: string
  /** What the receiver said, cut to {@link PUSH_ERROR_DESCRIPTION_LENGTH_MAX}. */
  readonly description?: string
}

/** Tells whether a push was accepted: 202 by the book, any 2xx in the field. RFC 8935 section 2.2. */
export function isPushAccepted(status: number): boolean {
  return status >= 200 && status <= 299
}

/**
 * Reads a receiver's error answer, whatever its body is: the JSON of RFC 8935 section 2.3, a
 * problem document, other JSON, text or nothing. Never throws.
 *
 * @param contentType The Content-Type header, if there was one; JSON is tried without it too.
 * @param body The body as text, already cut to a size that is worth keeping.
 */
export function parsePushError(
  status: number,
  contentType: string | undefined,
  body: string,
): PushError {
  const members = readJsonObject(body)
  if (members === undefined) {
    const isMarkup = contentType !== undefined && /html|xml/i.test(contentType)
    return { status, ...describedBy(isMarkup ? undefined : body) }
  }
  const err = members['err'] ?? members['error']
  const description =
    members['description'] ??
    members['error_description'] ??
    members['detail'] ??
    members['message'] ??
    members['title']
  return {
    status,
    ...(isSetErrorCode(err) ? { code: err } : {}),
    ...(typeof err === 'string' ? { err: cut(err, 128) } : {}),
    ...describedBy(description),
  }
}

function describedBy(description: unknown): { description?: string } {
  if (typeof description !== 'string') return {}
  const text = cut(description, PUSH_ERROR_DESCRIPTION_LENGTH_MAX).trim()
  return text === '' ? {} : { description: text }
}

/** Cuts without leaving half a surrogate pair, and drops what text columns cannot hold. */
function cut(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).replaceAll('\u0000', '').toWellFormed()
}

function readJsonObject(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return value as Readonly<Record<string, unknown>>
  } catch {
    return undefined
  }
}
