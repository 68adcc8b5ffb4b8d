/*
 * How operations of the standard surface are declared and read: with a scope of the access token, and bodies
 * as tolerant as the standards ask for. register-standard-ssf.ts mounts them.
 */
import { z } from 'zod'
import { AppError, invalidBody as refuseBody, type ErrorDetail } from '../../platform/app-error.ts'
import {
  operation,
  paramNamesOf,
  type Operation,
  type OperationDefinition,
  type OperationRequest,
} from '../../platform/http/operation.ts'
import type { SsfScope } from '../../signals/clients/client-scopes.ts'
import type { SsfCaller } from './ssf-caller.ts'

/** A request that has passed the access check. */
export type SsfRequest = OperationRequest<SsfCaller>

/** An operation that needs an access token. */
export type SsfOperation = Operation<SsfCaller>

/** Declares an operation that needs an access token with `scope`. */
export function ssfOperation({
  scope,
  ...definition
}: Omit<OperationDefinition<SsfCaller>, 'access'> & { readonly scope: SsfScope }): SsfOperation {
  return operation({ params: pathParams(definition.path), ...definition, access: { scope } })
}

/** An id that no stream can have is that of an unknown stream. */
function pathParams(path: string): z.ZodType {
  return z.object(Object.fromEntries(paramNamesOf(path).map((name) => [name, z.string()])))
}

/** Query parameters with what they are for, as the document describes them. */
export function describeQuery(texts: Readonly<Record<string, string>>): z.ZodType {
  return z.object(
    Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [name, z.string().optional().describe(text)]),
    ),
  )
}

/** Names the stream in a query. */
export const streamIdQuery = describeQuery({ stream_id: 'The stream.' })

/** A document that anyone may read, whatever credential comes along. */
export interface SsfDocument {
  readonly path: string
  readonly summary: string
  readonly schema: z.ZodType
  readonly content: object
}

/** As many of the things that are wrong are named in the text of a refusal. */
const NAMED_MAX = 3

/** The refusal of a body. */
export function invalidBody(issues: readonly ErrorDetail[]): AppError {
  return refuseBody(issues, NAMED_MAX)
}

/**
 * The body of a request as an object, with the `stream_id` of the query where the body has none, as some
 * receivers send it. Texts that cannot be stored are refused, `verbatim` members excepted.
 *
 * @throws AppError `invalid_body`
 */
export function readBody(
  { body, query }: Pick<SsfRequest, 'body' | 'query'>,
  verbatim: readonly string[] = [],
): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidBody([{ path: '', message: 'Must be a JSON object' }])
  }
  const members = membersOf(body)
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

/** The members of a body that is an object; none of any other. */
export function membersOf(body: unknown): Record<string, unknown> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
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
  return new AppError('invalid_parameter', `A parameter is not valid. stream_id: ${message}`, {
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
