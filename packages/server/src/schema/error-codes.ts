import type { ErrorCode } from '../platform/error-codes.ts'

/**
 * Every error code that the service answers, with what it means and what to do about it.
 * `docs/errors.md` is generated from this registry.
 */
export const ERROR_CODES = {
  malformed_json: {
    meaning: 'The request body is not valid JSON.',
    remedy: 'Send a JSON document in UTF-8; the message names the place where parsing stopped.',
  },
  unsupported_media_type: {
    meaning: 'The request body has a content type or encoding that the endpoint does not take.',
    remedy: 'Send `Content-Type: application/json`, and nothing compressed.',
  },
  invalid_parameter: {
    meaning:
      'A parameter of the path or the query, or a header, is missing, unknown or out of range.',
    remedy: 'The details or the message name it and what is allowed.',
  },
  invalid_search: {
    meaning:
      'The `query` search expression cannot be understood, or names a field that cannot be searched.',
    remedy: 'The message names the position and the fields and operators that are allowed.',
  },
  invalid_cursor: {
    meaning:
      'The `cursor` was not issued by this service, is too old (results of reporting queries), or belongs to another list, search, order or filter.',
    remedy: 'Start from the first page, or send the cursor alone.',
  },
  unsupported_version: {
    meaning: 'The API version header names a version that does not exist.',
    remedy: 'Send one of the versions that the message lists, or leave the header out.',
  },
  version_retired: {
    meaning: 'The path belongs to an API version that has been shut down.',
    remedy: 'Use the current paths; `/openapi.json` lists them.',
  },
  invalid_body: {
    meaning:
      'The body is JSON, but a field is missing, unknown or has a value that is not allowed.',
    remedy: 'The details list each field with what is allowed.',
  },
  unauthenticated: {
    meaning: 'The request carries no credential, or one that is unknown, expired or revoked.',
    remedy: 'Send `Authorization: Bearer <API key>` with a live key, or sign in to the console.',
  },
  sign_in_failed: {
    meaning:
      'An admin could not sign in: the one-time link, passkey, password or code is unknown, used up or wrong.',
    remedy:
      'Try again, or ask for a new link. On the machine of the service, `heliograph admins link` makes one.',
  },
  sign_in_setup_required: {
    meaning:
      'The session began with a one-time link and opens nothing before the admin has a way to sign in.',
    remedy: 'Add a passkey, or a password with a second factor, under `/console/session`.',
  },
  step_up_required: {
    meaning:
      'The request opens something that an admin must have proven to be there for, within the last five minutes.',
    remedy:
      'Step the session up: `POST /console/session/step_up`, or `step_up_code`. Then send the request again.',
  },
  trusted_device_required: {
    meaning:
      'The organisation has its admins use the console from trusted devices alone, and the session is not bound to one that is good now.',
    remedy:
      'The message says what is wrong. Open `/console/trusted-device` on a device that is registered to you; on the machine of the service, `heliograph admins allow-any-device` switches this off.',
  },
  cross_site_request: {
    meaning: 'The request carries the session of an admin, but does not come from the console.',
    remedy:
      'Send it from a page of the service itself, with the header `X-Heliograph-Console: 1`; scripts use an API key.',
  },
  feature_disabled: {
    meaning: 'The organisation has switched this feature off.',
    remedy: 'An admin with Full Access can switch it on: `heliograph organisation set`.',
  },
  permission_missing: {
    meaning:
      'The API key lacks the permission that the endpoint needs, or the access level of the admin does not open it.',
    remedy:
      'Use a key that holds the permission which the message names, or ask an admin with Full Access.',
  },
  scope_missing: {
    meaning: 'The access token lacks the scope that the endpoint needs.',
    remedy:
      'Ask for a token with the scope that the message names, with a client that may have it.',
  },
  not_found: {
    meaning: 'No such record, or no such path.',
    remedy: 'Check the identifier; lists show what exists.',
  },
  method_not_allowed: {
    meaning: 'The path exists, but not with this method.',
    remedy: 'The `Allow` header lists the methods of the path.',
  },
  conflict: {
    meaning: 'The request contradicts the present state of the record.',
    remedy: 'Read the record again; the message says what stands in the way.',
  },
  request_in_progress: {
    meaning: 'A request with the same `Idempotency-Key` is still being carried out.',
    remedy:
      'Send it again after the number of seconds in `Retry-After`; the answer will be the first one.',
  },
  idempotency_key_reused: {
    meaning:
      'The `Idempotency-Key` was used in the last 24 hours for a request that asked for something else.',
    remedy: 'Use a new key for each new request, and the same key only to repeat one unchanged.',
  },
  answer_lost: {
    meaning:
      'The first request with this `Idempotency-Key` was carried out, but the service was interrupted before its answer was kept.',
    remedy: 'Read the record to see its state; nothing is done again under this key.',
  },
  limit_reached: {
    meaning: 'A limit of the service would be exceeded.',
    remedy: 'Delete what is not needed, or raise the setting where the message names one.',
  },
  reporting_not_set_up: {
    meaning:
      'Reporting queries run as a database role of their own, which does not exist or may do more than it should.',
    remedy:
      'The operator sets it up as `docs/operations.md` says; the log of the service names what is missing.',
  },
  body_too_large: {
    meaning: 'The request body is larger than the endpoint takes.',
    remedy: 'Send less; the message names the limit.',
  },
  rate_limited: {
    meaning: 'Too many requests in a while (60 seconds for a key), or too many at a time.',
    remedy: 'Wait for the number of seconds in `Retry-After`, then back off exponentially.',
  },
  target_refused: {
    meaning: 'A delivery URL is not allowed: not HTTPS, not public, or not well-formed.',
    remedy:
      'Use a public HTTPS URL, or let the operator allow-list it with `HELIOGRAPH_ALLOWED_TARGETS`.',
  },
  unavailable: {
    meaning:
      'The service cannot answer at the moment, for example while its database restarts, is busy or cannot write.',
    remedy: 'Try again after the number of seconds in `Retry-After`.',
  },
  internal: {
    meaning: 'An unexpected fault. The log holds the details under the request id.',
    remedy: 'Try again; report the request id when it persists.',
  },
} as const satisfies Record<ErrorCode, { meaning: string; remedy: string }>
