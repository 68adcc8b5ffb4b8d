/*
 * For how long the service keeps what grows with time: the one table of it. The parts add how the rows of
 * a policy end; the settings, their reference, the API and `heliograph retention show` read this list. What is
 * not in it is kept for as long as what it belongs to.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../platform/clock.ts'
import type { RowsEnd } from '../platform/retention/aging-rows-store.ts'
import { expirePartitions } from '../platform/retention/expire-partitions-store.ts'
import { expireRows } from '../platform/retention/expire-rows-store.ts'
import type { RetentionPolicy } from '../platform/retention/retention-policy.ts'
import { FIXED_RETENTION } from './fixed-retention.ts'
import type { RetentionFacts } from './retention-facts.ts'

const DELIVERIES = {
  setting: 'HELIOGRAPH_DELIVERY_RETENTION_DAYS',
  days: 180,
  daysMin: 1,
} as const

const SIGN_INS = {
  setting: 'HELIOGRAPH_SIGN_IN_RETENTION_DAYS',
  days: 365,
  daysMin: 0,
} as const

/** The policies by their names. */
export const RETENTION = {
  'audit entries': {
    table: 'audit_entry',
    key: 'sequence',
    ageBy: 'recorded_at',
    walk: 'key',
    // For ever: it is the proof of everything else, and rules that ask for one speak of years.
    isPartitioned: true,
    keeps: { setting: 'HELIOGRAPH_AUDIT_RETENTION_DAYS', days: 0, daysMin: 0, daysLeast: 30 },
    passEveryMs: HOUR_MS,
    batchSize: 4_096,
    description:
      'Entries of the audit log that a signed checkpoint covers. At least 30; 0 keeps them for ever.',
  },
  'check transitions': {
    table: 'check_transition',
    key: 'id',
    ageBy: 'occurred_at',
    walk: 'key',
    isPartitioned: true,
    keeps: { setting: 'HELIOGRAPH_CHECK_TRANSITION_RETENTION_DAYS', days: 365, daysMin: 0 },
    passEveryMs: HOUR_MS,
    batchSize: 2_000,
    description:
      'Changes of the results of checks, with the rows that led to them. Present results are kept as long as their device. 0 keeps them for ever.',
  },
  'status transitions': {
    table: 'device_status_transition',
    key: 'id',
    ageBy: 'occurred_at',
    // The last ones stay: a pass meets them every time, and is not made often.
    walk: 'key',
    isPartitioned: true,
    keeps: { setting: 'HELIOGRAPH_STATUS_TRANSITION_RETENTION_DAYS', days: 365, daysMin: 0 },
    passEveryMs: DAY_MS,
    batchSize: 2_000,
    description:
      'Changes of the status of devices. Of each device the last one stays, and the last one that changed its compliance. 0 keeps them for ever.',
  },
  'status counts': {
    table: 'device_status_count',
    key: 'counted_at',
    ageBy: 'counted_at',
    walk: 'key',
    keeps: { ms: 400 * DAY_MS },
    passEveryMs: DAY_MS,
    batchSize: 2_000,
    description: 'How many devices were in each status, counted every five minutes.',
  },
  'resolved issues': {
    table: 'issue',
    key: 'id',
    ageBy: 'resolved_at',
    walk: 'age',
    keeps: { setting: 'HELIOGRAPH_RESOLVED_ISSUE_RETENTION_DAYS', days: 365, daysMin: 0 },
    passEveryMs: HOUR_MS,
    batchSize: 500,
    description:
      'Issues after they were resolved. Open ones stay, and those that an open exemption request names. 0 keeps them for ever.',
  },
  'sign-ins': {
    table: 'auth_log_session',
    key: 'id',
    ageBy: 'started_at',
    walk: 'age',
    isPartitioned: true,
    keeps: SIGN_INS,
    passEveryMs: HOUR_MS,
    batchSize: 1_000,
    description:
      'Sign-ins with their events, names, addresses and places, also of people and devices that are gone. Those under way stay. 0 keeps them for ever.',
  },
  'sign-in attempts': {
    table: 'sign_in_attempt',
    key: 'id',
    ageBy: 'started_at',
    walk: 'age',
    keeps: SIGN_INS,
    passEveryMs: HOUR_MS,
    batchSize: 1_000,
    description: 'By what the device of a sign-in here was known: as long as sign-ins.',
  },
  'granted sessions': {
    table: 'sign_in_granted_session',
    key: 'id',
    ageBy: 'expires_at',
    walk: 'age',
    keeps: SIGN_INS,
    passEveryMs: HOUR_MS,
    batchSize: 1_000,
    description:
      'What was granted to those who signed in here: as long as sign-ins, from its end on.',
  },
  'provider state': {
    table: 'sign_in_provider_state',
    key: 'key_hash',
    ageBy: 'expires_at',
    walk: 'age',
    keeps: { ms: 0 },
    passEveryMs: MINUTE_MS,
    batchSize: 5_000,
    description:
      'Codes, tokens and sessions of applications that people sign in to, until they expire.',
  },
  'device questions': {
    table: 'device_question',
    key: 'id',
    ageBy: 'asked_at',
    walk: 'age',
    keeps: { ms: HOUR_MS },
    passEveryMs: 10 * MINUTE_MS,
    batchSize: 1_000,
    description:
      'Questions that single devices were asked while somebody waited, such as which program a sign-in comes from, with their answers.',
  },
  'live query results': {
    table: 'live_query_result',
    key: 'id',
    ageBy: 'answered_at',
    // A device that answers anew keeps the id of its result.
    walk: 'all',
    keeps: { setting: 'HELIOGRAPH_LIVE_QUERY_RESULT_RETENTION_DAYS', days: 90, daysMin: 0 },
    passEveryMs: DAY_MS,
    batchSize: 500,
    description:
      'What devices answered to live queries. The live query and its counts stay until it is deleted. 0 keeps them for ever.',
  },
  deliveries: {
    table: 'delivery',
    key: 'id',
    ageBy: 'finished_at',
    walk: 'age',
    isPartitioned: true,
    keeps: DELIVERIES,
    passEveryMs: HOUR_MS,
    batchSize: 500,
    description: 'Finished deliveries with their attempts.',
  },
  'delivery payloads': {
    table: 'delivery',
    key: 'id',
    ageBy: 'finished_at',
    walk: 'age',
    keeps: { setting: 'HELIOGRAPH_DELIVERY_PAYLOAD_RETENTION_DAYS', days: 180, daysMin: 1 },
    passEveryMs: HOUR_MS,
    batchSize: 500,
    description: 'What finished deliveries carried, and what their receivers answered.',
  },
  'waiting events': {
    table: 'delivery',
    key: 'id',
    ageBy: 'created_at',
    walk: ['destination_id', 'next_attempt_at', 'id'],
    keeps: { setting: 'HELIOGRAPH_WAITING_EVENT_RETENTION_DAYS', days: 30, daysMin: 0 },
    passEveryMs: 6 * HOUR_MS,
    batchSize: 500,
    description:
      'Events that wait in a stream whose receiver has been silent for as long: given up and kept as dead letters. Of each device the last one waits on, until HELIOGRAPH_DELIVERY_RETENTION_DAYS. 0 has them wait for ever.',
  },
  'webhook payloads': {
    table: 'webhook_event',
    key: 'id',
    ageBy: 'created_at',
    walk: 'age',
    keeps: { setting: 'HELIOGRAPH_WEBHOOK_PAYLOAD_RETENTION_DAYS', days: 90, daysMin: 1 },
    passEveryMs: HOUR_MS,
    batchSize: 500,
    description:
      'The contents of webhook events; they cannot be sent again afterwards. That they happened, and what became of them, is kept as long as deliveries are.',
  },
  'webhook events': {
    table: 'webhook_event',
    key: 'id',
    ageBy: 'created_at',
    walk: 'age',
    isPartitioned: true,
    keeps: DELIVERIES,
    passEveryMs: 6 * HOUR_MS,
    batchSize: 1_000,
    description: 'That webhook events happened; they stay for as long as one of their deliveries.',
  },
  ...FIXED_RETENTION,
} as const satisfies Record<string, RetentionFacts>

export type RetentionName = keyof typeof RETENTION

/** A policy whose days a setting changes. */
export type SettableRetention = {
  [Name in RetentionName]: (typeof RETENTION)[Name]['keeps'] extends { readonly setting: string }
    ? Name
    : never
}[RetentionName]

/** What a part adds to a policy: which rows end and how, or all of the work. */
export type RetentionWork = RowsEnd &
  Partial<Pick<RetentionPolicy, 'runBatch' | 'preparePass' | 'isResumed'>>

/** A policy of {@link RETENTION} that keeps for a fixed time, with its work. */
export function fixedRetention(
  name: Exclude<RetentionName, SettableRetention>,
  work: RetentionWork = {},
): RetentionPolicy {
  return toPolicy(name, RETENTION[name].keeps.ms, work)
}

/** A policy of {@link RETENTION} that keeps for `days`, with its work; 0 days are for ever. */
export function retention(
  name: SettableRetention,
  days: number,
  work: RetentionWork = {},
): RetentionPolicy {
  return toPolicy(name, days === 0 ? null : days * DAY_MS, work)
}

function toPolicy(
  name: RetentionName,
  keepsMs: number | null,
  { within, when, end, ...work }: RetentionWork,
): RetentionPolicy {
  const facts: RetentionFacts = RETENTION[name]
  const { passEveryMs, batchSize } = facts
  const rows = {
    ...(within === undefined ? {} : { within }),
    ...(when === undefined ? {} : { when }),
    ...(end === undefined ? {} : { end }),
  }
  return {
    name,
    keepsMs,
    passEveryMs,
    batchSize,
    runBatch: expireRows(facts, rows),
    ...(facts.isPartitioned === true ? { endPartitions: expirePartitions(facts, rows) } : {}),
    ...work,
  }
}
