/**
 * The closed list of codes that refusals carry, each with the kind of refusal that it is; each surface maps
 * kinds to its own status once. `schema/error-codes.ts` explains the codes.
 */
export const KIND_OF_CODE = {
  malformed_json: 'malformed',
  unsupported_media_type: 'malformed',
  invalid_parameter: 'malformed',
  invalid_search: 'malformed',
  invalid_cursor: 'malformed',
  unsupported_version: 'malformed',
  version_retired: 'gone',
  invalid_body: 'invalid',
  unauthenticated: 'unauthenticated',
  sign_in_failed: 'unauthenticated',
  sign_in_setup_required: 'forbidden',
  step_up_required: 'forbidden',
  trusted_device_required: 'forbidden',
  cross_site_request: 'forbidden',
  feature_disabled: 'unauthenticated',
  permission_missing: 'forbidden',
  scope_missing: 'forbidden',
  not_found: 'not_found',
  method_not_allowed: 'malformed',
  conflict: 'conflict',
  request_in_progress: 'conflict',
  idempotency_key_reused: 'invalid',
  answer_lost: 'conflict',
  limit_reached: 'conflict',
  reporting_not_set_up: 'conflict',
  body_too_large: 'too_large',
  rate_limited: 'rate_limited',
  target_refused: 'invalid',
  unavailable: 'unavailable',
} as const

export type RefusalCode = keyof typeof KIND_OF_CODE

/** What kind of refusal an error is. */
export type ErrorKind = (typeof KIND_OF_CODE)[RefusalCode]

/** Every code that an answer can carry: those of refusals, and the one of bugs. */
export type ErrorCode = RefusalCode | 'internal'
