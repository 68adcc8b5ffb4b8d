/*
 * The messages of osquery agents, read as tolerantly as their versions differ: "" for no rows, texts
 * for numbers, maps that are missing. Unknown members are ignored. Only what cannot be understood at
 * all is refused.
 */
import type { DistributedResult, EnrollmentRequest } from '../../posture/osquery/agent-message.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import { AppError } from '../../platform/app-error.ts'
import { toStorableText } from '../../platform/storable-text.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** @throws AppError `malformed_json` when the body is no JSON object */
export function parseAgentBody(body: Buffer): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw new AppError('malformed_json', 'The body is not valid JSON.', { cause })
  }
  if (isObject(value)) return value
  throw new AppError('malformed_json', 'The body must be a JSON object.')
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

/** How many answers of one write are looked at. */
const RESULTS_MAX = 10_000
const MESSAGE_LENGTH_MAX = 4_000

/** The answers of a distributed write; those without a status count as successful. */
export function parseDistributedWrite(body: JsonObject): DistributedResult[] {
  const queries = toObject(body['queries'])
  const statuses = toObject(body['statuses'])
  const messages = toObject(body['messages'])
  const ids = new Set([...Object.keys(queries), ...Object.keys(statuses)])
  return [...ids].slice(0, RESULTS_MAX).map((id) => {
    const rows = queries[id]
    const message = messages[id]
    return {
      id,
      rows: Array.isArray(rows) ? rows : [],
      statusCode: toStatusCode(statuses[id]),
      message: typeof message === 'string' ? message.slice(0, MESSAGE_LENGTH_MAX) : '',
    }
  })
}

/** A status that is no number is an error: nothing is known in favour of the result. */
function toStatusCode(status: unknown): number {
  if (status === undefined || status === null) return 0
  const code = Number(status)
  return Number.isInteger(code) && status !== '' ? code : 1
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
    details: Object.fromEntries(details) as Record<string, OsqueryRow>,
  }
}

/** The lines of a log message; `other` is what newer agents may add. */
export interface AgentLog {
  readonly type: 'result' | 'status' | 'other'
  readonly lines: readonly JsonObject[]
}

export function parseAgentLog(body: JsonObject): AgentLog {
  const data = body['data']
  const type = body['log_type']
  return {
    type: type === 'result' || type === 'status' ? type : 'other',
    lines: Array.isArray(data) ? data.filter(isObject) : [],
  }
}

/** A snapshot of a table that the device reports by schedule. */
export interface ReportedSnapshot {
  readonly tableName: string
  readonly unixTime: number
  readonly epoch: number
  readonly counter: number
  readonly rows: readonly OsqueryRow[]
}

/** The snapshots among result lines whose query is called `<prefix><table>`; others are left out. */
export function parseReportedSnapshots(
  lines: readonly JsonObject[],
  prefix: string,
): ReportedSnapshot[] {
  return lines.flatMap((line) => {
    const name = toText(line['name'])
    const snapshot = line['snapshot']
    if (!name.startsWith(prefix)) return []
    if (!Array.isArray(snapshot) && snapshot !== '') return []
    return [
      {
        tableName: name.slice(prefix.length),
        unixTime: toCount(line['unixTime']),
        epoch: toCount(line['epoch']),
        counter: toCount(line['counter']),
        rows: Array.isArray(snapshot) ? snapshot.filter(isObject).map(toRow) : [],
      },
    ]
  })
}

function toRow(row: JsonObject): OsqueryRow {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toColumnText(value)]))
}

/** Agents with numeric logging send numbers. */
function toColumnText(value: unknown): string {
  return typeof value === 'boolean' ? String(value) : toText(value)
}

/** Numbers of old agents are texts. */
function toCount(value: unknown): number {
  const count = Math.trunc(Number(value ?? 0))
  return Number.isSafeInteger(count) ? count : 0
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : ''
}

function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(message: string) {
  return new AppError('invalid_body', message)
}
