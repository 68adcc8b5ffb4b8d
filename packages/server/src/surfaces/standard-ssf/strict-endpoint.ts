/*
 * How the operations of the strict face are declared: as data, from which the face is served and its
 * OpenAPI document is written. strict-face.ts puts them to work.
 */
import type { z } from 'zod'
import type { ChangeOrigin } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import type { SsfScope } from '../../signals/clients/client-scopes.ts'
import type { StrictCaller } from './authenticate-client.ts'

/** A request that has passed the access check. */
export interface StrictRequest {
  readonly client: StrictCaller
  readonly origin: ChangeOrigin
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
  /** Where the receiver is. */
  readonly address: string
  /** Makes a signal that is aborted when the connection ends. */
  readonly disconnection: () => AbortSignal
}

export interface StrictAnswer {
  readonly status: 200 | 201 | 202 | 204
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** What the document says of an operation. */
export interface StrictDescription {
  readonly summary: string
  readonly description?: string
  /** Query parameters by name. */
  readonly query?: Readonly<Record<string, string>>
  readonly body?: z.ZodType
  /** A body that the operation takes. */
  readonly example?: unknown
  /** By status; null is an answer without a body. */
  readonly responses: Readonly<Record<number, z.ZodType | null>>
}

/** An operation that needs an access token. */
export interface StrictEndpoint extends StrictDescription {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** As it stands in documents; `{name}` is a parameter. */
  readonly path: string
  readonly scope: SsfScope
  /** Poll tokens of the stream that the path names are taken as well. */
  readonly takesPollTokens?: true
  readonly handler: (request: StrictRequest) => Promise<StrictAnswer>
}

/** A document that anyone may read, whatever credential comes along. */
export interface StrictDocument {
  readonly path: string
  readonly summary: string
  readonly schema: z.ZodType
  readonly content: object
}

/** The refusal of a body. */
export function invalidBody(
  issues: readonly { readonly path: string; readonly message: string }[],
): AppError {
  const details = issues.map(({ path, message }) => ({
    path,
    message: message.endsWith('.') ? message : `${message}.`,
  }))
  const summary = details
    .slice(0, 3)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .join(' ')
  return new AppError('invalid', 'invalid_body', `The body is not valid. ${summary}`, { details })
}

/**
 * The body of a request as an object, with the `stream_id` of the query where the body has none, as some
 * receivers send it. Texts that cannot be stored are refused, `verbatim` members excepted.
 *
 * @throws AppError `invalid_body`
 */
export function readBody(
  { body, query }: Pick<StrictRequest, 'body' | 'query'>,
  verbatim: readonly string[] = [],
): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidBody([{ path: '', message: 'Must be a JSON object' }])
  }
  const members = body as Record<string, unknown>
  for (const [name, value] of Object.entries(members)) {
    if (!verbatim.includes(name) && !isStorable(value)) {
      throw invalidBody([{ path: name, message: 'Must not contain NUL or lone surrogates' }])
    }
  }
  const streamId = readStreamId(query)
  return members['stream_id'] === undefined && streamId !== undefined
    ? { ...members, stream_id: streamId }
    : members
}

/**
 * The `stream_id` of a query; undefined when there is none.
 *
 * @throws AppError `invalid_parameter` when there are several
 */
export function readStreamId(query: Readonly<Record<string, unknown>>): string | undefined {
  const value = query['stream_id']
  if (value === undefined || value === '') return undefined
  if (typeof value === 'string') return value
  throw invalidStreamId('Name one stream.')
}

/** As {@link readStreamId}, for operations that cannot do without. */
export function requireStreamId(query: Readonly<Record<string, unknown>>): string {
  const streamId = readStreamId(query)
  if (streamId === undefined) throw invalidStreamId('This is required: the id of a stream.')
  return streamId
}

function invalidStreamId(message: string): AppError {
  return new AppError('malformed', 'invalid_parameter', `A parameter is not valid. ${message}`, {
    details: [{ path: 'stream_id', message }],
  })
}

/** Deeper than any body that means something. */
const DEPTH_MAX = 16

function isStorable(value: unknown, levels = DEPTH_MAX): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  if (levels === 0) return false
  return Object.entries(value).every(
    ([name, member]) => isStorable(name) && isStorable(member, levels - 1),
  )
}
