/*
 * What is kept until nobody can use it any more, or for as long as every installation keeps it: a part of the one
 * table.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../platform/clock.ts'
import type { RetentionFacts } from './retention-facts.ts'

/** The policies that no setting changes and that hold secrets, answers and counts. */
export const FIXED_RETENTION = {
  'access tokens': {
    table: 'ssf_access_token',
    key: 'token_hash',
    ageBy: 'expires_at',
    walk: 'age',
    keeps: { ms: 0 },
    passEveryMs: MINUTE_MS,
    batchSize: 5_000,
    description: 'Access tokens of SSF clients, until they expire.',
  },
  'admin sessions': {
    table: 'admin_session',
    key: 'id',
    ageBy: 'expires_at',
    walk: 'age',
    keeps: { ms: 0 },
    passEveryMs: MINUTE_MS,
    batchSize: 1_000,
    description: 'Sessions of admins in the console, until they expire.',
  },
  'sign-in links': {
    table: 'admin_sign_in_link',
    key: 'id',
    ageBy: 'expires_at',
    walk: 'age',
    keeps: { ms: 0 },
    passEveryMs: MINUTE_MS,
    batchSize: 1_000,
    description: 'One-time links by which admins sign in, until they are used or expire.',
  },
  'browser keys': {
    table: 'browser_key',
    key: 'id',
    ageBy: 'last_used_at',
    // A key keeps its id however often it is used.
    walk: 'all',
    keeps: { ms: 400 * DAY_MS },
    passEveryMs: 6 * HOUR_MS,
    batchSize: 1_000,
    description:
      'Keys that browsers of people hold, live or ended, for 400 days after they were last used.',
  },
  'used challenges': {
    table: 'admin_used_challenge',
    key: 'challenge_hash',
    ageBy: 'expires_at',
    walk: 'age',
    keeps: { ms: 0 },
    passEveryMs: MINUTE_MS,
    batchSize: 1_000,
    description: 'Challenges that passkeys have answered, until nobody can answer them again.',
  },
  'client assertions': {
    table: 'ssf_client_assertion',
    key: 'assertion_id',
    ageBy: 'expires_at',
    walk: 'age',
    keeps: { ms: 0 },
    passEveryMs: MINUTE_MS,
    batchSize: 5_000,
    description: 'Assertions that SSF clients have used, until nobody can use them again.',
  },
  'client secrets': {
    table: 'ssf_client_secret',
    key: 'id',
    ageBy: 'expires_at',
    walk: 'age',
    keeps: { ms: 0 },
    passEveryMs: MINUTE_MS,
    batchSize: 1_000,
    description: 'Secrets of SSF clients that were rotated, until they end.',
  },
  'idempotency records': {
    table: 'idempotency_record',
    key: 'scope_hash',
    ageBy: 'expires_at',
    walk: 'age',
    keeps: { ms: 0 },
    passEveryMs: MINUTE_MS,
    batchSize: 1_000,
    description: 'Answers to requests with an idempotency key, for a day.',
  },
  'key permission uses': {
    table: 'api_key_permission_use',
    key: 'id',
    ageBy: 'day_began_at',
    walk: 'all',
    keeps: { ms: 31 * DAY_MS },
    passEveryMs: HOUR_MS,
    batchSize: 1_000,
    description:
      'How often API keys used each permission, and were refused for want of it, by day.',
  },
  'rate limits': {
    table: 'rate_limit',
    key: 'bucket',
    ageBy: 'touched_at',
    walk: 'all',
    keeps: { ms: 10 * MINUTE_MS },
    passEveryMs: MINUTE_MS,
    batchSize: 1_000,
    description: 'Counts of the rate limits of keys and addresses, after their last request.',
  },
  're-enrollment requests': {
    table: 'reenrollment_request',
    key: 'id',
    ageBy: 'last_requested_at',
    walk: 'age',
    keeps: { ms: 90 * DAY_MS },
    passEveryMs: HOUR_MS,
    batchSize: 1_000,
    description: 'Machines that asked to enroll as a known device, after their last attempt.',
  },
} as const satisfies Record<string, RetentionFacts>
