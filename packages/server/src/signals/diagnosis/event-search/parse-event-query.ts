import { AppError } from '../../../platform/app-error.ts'
import { isId, isUuid, timeOfUlid } from '../../../platform/ids.ts'

/** By what an event can be looked for. */
export const EVENT_QUERY_KINDS = [
  'event_id',
  'txn',
  'device_id',
  'person_id',
  'email',
  'request_id',
] as const

export type EventQueryKind = (typeof EVENT_QUERY_KINDS)[number]

/** What is looked for; a bare text may be several things. */
export interface EventQuery {
  readonly kind: EventQueryKind
  readonly value: string
}

const NAMED = /^\s*(\w+)\s*:\s*"?([^"]*?)"?\s*$/
const REQUEST_ID = /^req_[0-9a-f]{32}$/
const VALUE_LENGTH_MAX = 255
const NAMES: ReadonlyMap<string, EventQueryKind> = new Map([
  ...EVENT_QUERY_KINDS.map((kind) => [kind, kind] as const),
  ['jti', 'event_id'],
])

/**
 * What a text looks for: `device_id:7` says it; of a bare text it is told by its form. A ULID is a `txn` or the id
 * of an event of webhooks, in this order.
 *
 * @throws AppError `invalid_search` for a text that can be none
 */
export function parseEventQuery(text: string): readonly EventQuery[] {
  const value = text.trim()
  if (value.length > VALUE_LENGTH_MAX || value.includes('\0') || !value.isWellFormed())
    throw refusal()
  const [, name = '', named = ''] = NAMED.exec(value) ?? []
  const kind = NAMES.get(name)
  if (kind !== undefined && named !== '') return [toQuery(kind, named)]
  if (isUuid(value)) return [{ kind: 'event_id', value: value.toLowerCase() }]
  if (timeOfUlid(value) !== undefined) {
    return [
      { kind: 'txn', value },
      { kind: 'event_id', value },
    ]
  }
  if (REQUEST_ID.test(value)) return [{ kind: 'request_id', value }]
  if (isId(value)) return [{ kind: 'device_id', value }]
  if (/^[^\s@]+@[^\s@]+$/.test(value)) return [{ kind: 'email', value }]
  throw refusal()
}

function toQuery(kind: EventQueryKind, value: string): EventQuery {
  const isNumber = kind === 'device_id' || kind === 'person_id'
  if (isNumber && !isId(value)) throw refusal()
  return { kind, value }
}

function refusal(): AppError {
  return new AppError(
    'invalid_search',
    `Look for an event by its id, a device, a person, an email address, a txn or a request: ${EVENT_QUERY_KINDS.map((kind) => `${kind}:…`).join(', ')}.`,
  )
}
