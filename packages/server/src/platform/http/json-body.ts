import type { FastifyInstance } from 'fastify'
import { AppError } from '../app-error.ts'
import { findJsonErrorPosition } from './json-error-position.ts'

/** `application/json` and every `+json` type, with any parameters. */
const JSON_MEDIA_TYPE = /^application\/(?:[\w.!#$&^-]+\+)?json(?:\s*;|$)/i

/**
 * Makes an app read JSON bodies and nothing else. Real clients announce JSON on requests without a
 * body, so an empty body is an absent one. Members that would change a prototype are refused, as are compressed
 * bodies (RFC 9110 section 15.5.16).
 */
export function registerJsonBody(app: FastifyInstance): void {
  const parseSafely = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(JSON_MEDIA_TYPE, { parseAs: 'buffer' }, (request, body, done) => {
    let text: string
    try {
      if (body.length > 0) refuseEncoding(request.headers['content-encoding'])
      text = decodeUtf8(body)
    } catch (error) {
      done(error as AppError)
      return
    }
    if (text.trim() === '') {
      done(null, undefined)
      return
    }
    void parseSafely(request, text, (error, value) => {
      if (error === null) done(null, value)
      else done(malformedJson(text))
    })
  })
}

function refuseEncoding(encoding = 'identity'): void {
  if (encoding.toLowerCase() === 'identity') return
  throw new AppError(
    'unsupported_media_type',
    `A body with the content encoding ${encoding} is not read. Send it without Content-Encoding.`,
  )
}

function decodeUtf8(body: string | Buffer): string {
  if (typeof body === 'string') return body
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (cause) {
    throw new AppError('malformed_json', 'The request body is not valid UTF-8.', {
      cause,
    })
  }
}

function malformedJson(text: string): AppError {
  if (isJson(text)) {
    return new AppError(
      'malformed_json',
      'The request body holds a member named `__proto__` or `constructor`, which is not allowed.',
    )
  }
  const position = findJsonErrorPosition(text)
  const place =
    position >= text.length ? 'it ends too early, at position' : 'parsing stopped at position'
  return new AppError('malformed_json', `The request body is not valid JSON: ${place} ${position}.`)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
