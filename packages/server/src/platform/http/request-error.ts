import type { FastifyRequest } from 'fastify'
import { AppError } from '../app-error.ts'
import { errorCodeOf } from '../error-code-of.ts'

/**
 * The refusal behind a fault that the HTTP framework found in a request (body too large, wrong media
 * type, truncated body), or `undefined` when the error does not lie with the client.
 */
export function toRequestError(thrown: unknown, request: FastifyRequest): AppError | undefined {
  if (isMediaTypeFault(thrown)) {
    return new AppError(
      'unsupported_media_type',
      'The request body must be JSON, sent with `Content-Type: application/json`.',
    )
  }
  switch (errorCodeOf(thrown)) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new AppError(
        'body_too_large',
        `The request body is larger than ${request.routeOptions.bodyLimit} bytes.`,
      )
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return malformedRequest('The body is not as long as `Content-Length` says.')
    case 'FST_ERR_BAD_URL':
      return malformedRequest('The path holds a percent sign that starts no encoded character.')
    case 'ECONNRESET':
    case 'ECONNABORTED':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      // Only a broken request stream: the same code from a dependency of ours is not the client's.
      return request.raw.readableAborted ? malformedRequest('The request ended early.') : undefined
    default:
      return undefined
  }
}

const MEDIA_TYPE_FAULTS: ReadonlySet<string | undefined> = new Set([
  'FST_ERR_CTP_INVALID_MEDIA_TYPE',
  'FST_ERR_CTP_EMPTY_TYPE',
  'FST_ERR_CTP_INVALID_TYPE',
])

/** Whether the HTTP framework does not read bodies of the type that a request names. */
export function isMediaTypeFault(thrown: unknown): boolean {
  return MEDIA_TYPE_FAULTS.has(errorCodeOf(thrown))
}

function malformedRequest(message: string): AppError {
  return new AppError('invalid_parameter', message)
}
