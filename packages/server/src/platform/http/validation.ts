import { describeFault, withoutIdleFaults } from '@heliograph/ssf'
import { z } from 'zod'
import { AppError, invalidBody, toSentence, type ErrorDetail } from '../app-error.ts'

/** Which part of a request is validated; it decides between 400 and 422. */
export type RequestPart = 'params' | 'query' | 'body'

/** More faults than these help nobody, and a hostile body must not make a large answer. */
const DETAILS_MAX = 50

/**
 * A schema that refuses members which it does not name. A schema that says itself what happens to
 * unknown members (`z.looseObject`, `catchall`) is left as it is; nested objects are the author's.
 */
export function refuseUnknownMembers(schema: z.ZodType): z.ZodType {
  if (!(schema instanceof z.ZodObject) || schema.def.catchall !== undefined) return schema
  return schema.strict()
}

/**
 * The validated part of a request.
 *
 * @throws AppError `invalid_parameter` (400) for params and query, `invalid_body` (422) for the body,
 * each with one detail per fault.
 */
export function parseRequestPart<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  part: RequestPart,
): z.output<Schema> {
  const error = part === 'query' ? describeQueryFault : describeFault
  const result = schema.safeParse(value, { error })
  if (result.success) return result.data
  throw toValidationError(result.error, part, schema)
}

/**
 * Refuses a body with lone surrogates, which neither UTF-8 nor the database can hold: a text that was cut in the middle
 * of a character.
 *
 * @throws AppError `invalid_body` naming the first member with such a text
 */
export function assertWellFormed(body: unknown): void {
  const path = findIllFormed(body)
  if (path === undefined) return
  throw invalidBody([{ path: path.join('.'), message: 'Must not contain lone surrogates.' }])
}

/** What no body has that anything is read of: one that is nested more deeply would take the whole stack. */
const DEPTH_MAX = 100

/** The way to the first text with lone surrogates; undefined without any. */
function findIllFormed(value: unknown, depth = 0): readonly string[] | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : []
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return undefined
  for (const [name, member] of Object.entries(value)) {
    const path = name.isWellFormed() ? findIllFormed(member, depth + 1) : []
    if (path !== undefined) return [name.toWellFormed(), ...path]
  }
  return undefined
}

/** A parameter that is repeated is read as a list, which none takes. */
const describeQueryFault: typeof describeFault = (fault) =>
  Array.isArray(fault.input) ? 'must be given once' : describeFault(fault)

/** The refusal that lists what is wrong with a part of a request. */
export function toValidationError(
  error: z.ZodError,
  part: RequestPart,
  schema?: z.ZodType,
): AppError {
  const allowed = schema instanceof z.ZodObject ? Object.keys(schema.shape) : undefined
  const details = withoutIdleFaults(error.issues)
    .flatMap((issue) => toDetails(issue, part, allowed))
    .slice(0, DETAILS_MAX)
  const summary = details
    .slice(0, 3)
    .map((detail) => (detail.path === '' ? detail.message : `${detail.path}: ${detail.message}`))
    .join(' ')
  return part === 'body'
    ? new AppError('invalid_body', `The body is not valid. ${summary}`, { details })
    : new AppError('invalid_parameter', `A parameter is not valid. ${summary}`, {
        details,
      })
}

type Issue = z.core.$ZodIssue

function toDetails(
  issue: Issue,
  part: RequestPart,
  allowed: readonly string[] | undefined,
): ErrorDetail[] {
  const path = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    const message = `${unknownText(part)} ${allowedText(path === '' ? allowed : undefined)}`.trim()
    return issue.keys.map((key) => ({ path: path === '' ? key : `${path}.${key}`, message }))
  }
  if (issue.code === 'invalid_union') return unionDetails(issue, path, part)
  return [{ path, message: toSentence(issue.message) }]
}

/** Of a union that nothing matched, the alternative that came closest tells the most. */
function unionDetails(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  path: string,
  part: RequestPart,
): ErrorDetail[] {
  const closest = [...issue.errors].sort((left, right) => left.length - right.length)[0]
  if (closest === undefined || closest.length === 0)
    return [{ path, message: toSentence(issue.message) }]
  return closest.flatMap((inner) =>
    toDetails({ ...inner, path: [...issue.path, ...inner.path] }, part, undefined),
  )
}

function unknownText(part: RequestPart): string {
  return part === 'body' ? 'This member does not exist.' : 'This parameter does not exist.'
}

function allowedText(allowed: readonly string[] | undefined): string {
  if (allowed === undefined) return ''
  return allowed.length === 0 ? 'None is allowed here.' : `Allowed: ${allowed.join(', ')}.`
}
