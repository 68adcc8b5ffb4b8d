import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AppError } from '../app-error.ts'
import type { ErrorCode, ErrorKind } from '../error-codes.ts'
import { findDatabaseFault } from '../db/database-fault.ts'
import { toUnavailable } from '../db/unavailable.ts'
import { toRequestError } from './request-error.ts'

/*
 * How failed requests are answered. Owns the map from the kind of a refusal to its status, the error body
 * of the service, and the one handler that judges, logs and answers what a request threw; a surface may
 * have a body of its own.
 */

/** The status of each kind of refusal. */
export const STATUS_OF_KIND = {
  malformed: 400,
  invalid: 422,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  gone: 410,
  conflict: 409,
  too_large: 413,
  rate_limited: 429,
  unavailable: 503,
} as const satisfies Record<ErrorKind, number>

/** Codes whose status says more than their kind does. */
const STATUS_OF_CODE: Partial<Record<ErrorCode, number>> = {
  unsupported_media_type: 415,
  method_not_allowed: 405,
  // Clients of the API tell a switched-off feature by this status; the interface leaves no choice.
  feature_disabled: 401,
}

const SHORT_TEXT_OF_STATUS: Record<number, string> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  410: 'Gone',
  413: 'Payload too large',
  415: 'Unsupported media type',
  422: 'Unprocessable entity',
  429: 'Too many requests',
  500: 'Internal server error',
  503: 'Service unavailable',
}

/** The text that clients match on when the organisation has switched a feature off. */
export const FEATURE_DISABLED_TEXT = 'This feature has been disabled by your organization'

/** When a client may come back that was sent away for a while; in seconds. */
export const RETRY_AFTER_SECONDS_DEFAULT = 5

const errorDetailSchema = z.object({
  path: z.string().describe('The place of the fault, dotted from the top of the input.'),
  message: z.string().describe('What is wrong there, and what is allowed.'),
})

/** The body of every refusal. */
export const errorBodySchema = z
  .object({
    error: z.string().describe('A few words, the same for every refusal with this status.'),
    message: z.string().describe('One sentence for the person who reads the log of the client.'),
    code: z.string().describe('A stable code to branch on.'),
    request_id: z.string().describe('Also in the `Request-Id` header; support asks for it.'),
    details: z.array(errorDetailSchema).optional(),
  })
  .meta({ id: 'Error', description: 'A refusal.' })

export type ErrorBody = z.output<typeof errorBodySchema>

/** A complete answer to a failed request. */
export interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}

/** How a surface tells failures. */
export interface SurfaceErrors {
  /** The refusal behind an error that only this surface knows; undefined for every other error. */
  readonly toRefusal?: (thrown: unknown) => AppError | undefined
  /** The answer to a refusal; without one, to a bug. */
  readonly toAnswer: (refusal: AppError | undefined, requestId: string) => ErrorAnswer
  /** The content type of the answers; JSON in UTF-8 when left out. */
  readonly mediaType?: string
}

/** The HTTP status of a refusal. */
export function statusOfError(error: AppError): number {
  return STATUS_OF_CODE[error.code] ?? STATUS_OF_KIND[error.kind]
}

/**
 * The answer in the body of the service. Of a refusal only the public text, the code and the details reach
 * it; of a bug nothing but the request id, which finds it in the log.
 */
export function toErrorAnswer(error: AppError | undefined, requestId: string): ErrorAnswer {
  if (error === undefined) return internalErrorAnswer(requestId)
  const status = statusOfError(error)
  const isFeatureDisabled = error.code === 'feature_disabled'
  return {
    status,
    headers: errorHeaders(error, status),
    body: {
      error: isFeatureDisabled ? FEATURE_DISABLED_TEXT : shortText(status),
      message: error.message,
      code: error.code,
      request_id: requestId,
      ...(error.details === undefined ? {} : { details: [...error.details] }),
    } satisfies ErrorBody,
  }
}

function internalErrorAnswer(requestId: string): ErrorAnswer {
  return {
    status: 500,
    headers: {},
    body: {
      error: shortText(500),
      message: 'An unexpected fault occurred. The request id finds it in the log of the service.',
      code: 'internal',
      request_id: requestId,
    } satisfies ErrorBody,
  }
}

/** The error body of the service. */
export const SERVICE_ERRORS: SurfaceErrors = { toAnswer: toErrorAnswer }

/**
 * Answers whatever a request threw, and logs it once: bugs at `error`, unavailability at `warn` with its
 * cause, refusals not at all (the request line holds their status).
 */
export function createErrorHandler({
  toRefusal = () => undefined,
  toAnswer,
  mediaType,
}: SurfaceErrors) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const refusal =
      thrown instanceof AppError
        ? thrown
        : (toRefusal(thrown) ?? toUnavailable(thrown) ?? toRequestError(thrown, request))
    logFailure(request.log, thrown, refusal)
    return sendErrorAnswer(reply, toAnswer(refusal, request.id), mediaType)
  }
}

/**
 * Sends a prepared error answer as JSON. `Retry-After` goes to the raw response in its documented
 * spelling, like the rate limit headers beside it.
 */
export function sendErrorAnswer(
  reply: FastifyReply,
  errorAnswer: ErrorAnswer,
  mediaType = 'application/json; charset=utf-8',
): FastifyReply {
  const { 'retry-after': retryAfter, ...headers } = errorAnswer.headers
  if (retryAfter !== undefined) reply.raw.setHeader('Retry-After', retryAfter)
  return reply
    .code(errorAnswer.status)
    .headers(headers)
    .type(mediaType)
    .send(JSON.stringify(errorAnswer.body))
}

function logFailure(log: FastifyBaseLogger, thrown: unknown, refusal: AppError | undefined): void {
  if (refusal === undefined) log.error({ err: thrown }, 'request failed')
  else if (refusal.kind === 'unavailable') {
    const advice = findDatabaseFault(thrown)?.advice
    log.warn({ err: thrown, advice }, 'request refused: unavailable')
  }
}

/** The headers of a refusal: how to authenticate, and when to come back. */
export function errorHeaders(error: AppError, status: number): Record<string, string> {
  const headers: Record<string, string> = {}
  if (status === 401 || error.bearerError !== undefined) {
    const parameter = error.bearerError === undefined ? '' : ` error="${error.bearerError}"`
    headers['www-authenticate'] = `Bearer${parameter}`
  }
  if (status === 429 || status === 503 || error.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(error.retryAfterSeconds ?? RETRY_AFTER_SECONDS_DEFAULT)
  }
  return headers
}

function shortText(status: number): string {
  return SHORT_TEXT_OF_STATUS[status] ?? 'Error'
}
