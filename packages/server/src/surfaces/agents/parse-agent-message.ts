/*
 * The messages of osquery agents, read as tolerantly as their versions differ: "" for no rows, texts
 * for numbers, maps that are missing. Unknown members are ignored. Only what cannot be understood at
 * all is refused.
 */
import type { EnrollmentRequest } from '../../posture/osquery/agent-message.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import { AppError } from '../../platform/app-error.ts'
import { toStorableText } from '../../platform/storable-text.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** @throws AppError `malformed_json` when the body is no JSON object */
export function parseAgentBody(body: Buffer): JsonObject {
  const value = parseJson(body.toString('utf8'))
  if (isObject(value)) return value
  throw new AppError('malformed_json', 'The body must be a JSON object.')
}

/** @throws AppError `malformed_json` */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError('malformed_json', 'The body is not valid JSON.', { cause })
  }
}

/** The node key of a body; undefined when there is none. */
export function parseNodeKey(body: JsonObject): string | undefined {
  const key = body['node_key']
  return typeof key === 'string' && key !== '' ? key : undefined
}

const NODE_KEY_SCHEME = /^NodeKey +(\S+)$/i

/** The node key of an `Authorization` header; undefined for another scheme or none. */
export function parseAuthorization(header: string | undefined): string | undefined {
  return header === undefined ? undefined : NODE_KEY_SCHEME.exec(header)?.[1]
}

const HOST_IDENTIFIER_LENGTH_MAX = 255
const DETAIL_LENGTH_MAX = 255

/** @throws AppError `invalid_body` without a secret or a host identifier */
export function parseEnrollment(body: JsonObject): EnrollmentRequest {
  const secret = toText(body['enroll_secret']).trim()
  const hostIdentifier = toStorableText(toText(body['host_identifier']).trim())
  if (secret === '') throw invalid('enroll_secret is missing.')
  if (hostIdentifier === '') throw invalid('host_identifier is missing.')
  if (hostIdentifier.length > HOST_IDENTIFIER_LENGTH_MAX) {
    throw invalid(`host_identifier is longer than ${HOST_IDENTIFIER_LENGTH_MAX} characters.`)
  }
  const details = Object.entries(toObject(body['host_details'])).map(([table, row]) => [
    table,
    Object.fromEntries(
      Object.entries(toObject(row)).map(([column, value]) => [
        column,
        toStorableText(toText(value).trim()).slice(0, DETAIL_LENGTH_MAX).toWellFormed(),
      ]),
    ),
  ])
  return {
    secret,
    hostIdentifier,
    platformType: Number(toText(body['platform_type'])) || 0,
    nodeKey: parseNodeKey(body),
    details: Object.fromEntries(details) as Record<string, OsqueryRow>,
  }
}

/** A whole number; those of old agents are texts. 0 for what is none. */
export function toCount(value: unknown): number {
  const count = Math.trunc(Number(value ?? 0))
  return Number.isSafeInteger(count) ? count : 0
}

/** A text, or a number as text; empty for everything else. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : ''
}

function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** Whether a value is a JSON object, and no array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(message: string) {
  return new AppError('invalid_body', message)
}
