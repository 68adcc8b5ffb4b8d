/*
 * Who of the admins may ask for what: one decision for every operation of the API, by its area. `everybody` needs no
 * sign-in; `billing`, `limited` and `full` are the least access level; `unless` names the restriction that takes the
 * operation away from an admin with limited access; `step-up` asks for a proof of presence within five minutes. An
 * operation that is not here fails the test of access: whoever adds one decides here.
 */
export const ADMIN_ACCESS: Readonly<Record<string, string>> = {
  // Devices
  'GET /devices': 'limited',
  'GET /devices/{id}': 'limited',
  'GET /devices/{id}/check_ins': 'limited',
  'GET /devices/{id}/status_explanation': 'limited',
  'GET /devices/{id}/timeline': 'limited',
  'GET /devices/{id}/open_issues': 'limited',
  'PATCH /devices/{id}': 'limited unless devices',
  'PUT /devices/{id}': 'limited unless devices',
  'PATCH /devices/{id}/authentication_mode': 'limited unless devices, step-up',
  'PUT /devices/{id}/authentication_mode': 'limited unless devices, step-up',
  'DELETE /devices/{id}/registration': 'limited unless devices',
  'DELETE /devices/{id}': 'limited unless devices, step-up',
  'POST /devices/{id}/deletion_cancellation': 'limited unless devices',
  'GET /devices/{id}/check_results': 'limited',
  'POST /devices/{id}/check_refreshes': 'limited unless checks',

  // Device groups
  'GET /device_groups': 'limited',
  'GET /device_groups/{id}': 'limited',
  'GET /device_groups/{id}/devices': 'limited',
  'POST /device_groups/{id}/memberships': 'limited unless devices',
  'DELETE /device_groups/{id}/memberships/{device_id}': 'limited unless devices',
  'POST /device_groups': 'limited unless devices',
  'PATCH /device_groups/{id}': 'limited unless devices',
  'PUT /device_groups/{id}': 'limited unless devices',
  'DELETE /device_groups/{id}': 'limited unless devices',

  // Checks
  'GET /checks/{id}/results': 'limited',
  'POST /checks/{id}/runs': 'limited unless checks',
  'GET /checks': 'limited',
  'GET /checks/{id}': 'limited',
  'GET /checks/{id}/configurations': 'limited',
  'GET /checks/{id}/configurations/history': 'limited',
  'POST /checks/{id}/configurations/undo': 'limited unless checks, step-up',
  'PATCH /checks/{id}/configurations': 'limited unless checks, step-up',
  'PUT /checks/{id}/configurations': 'limited unless checks, step-up',
  'POST /checks/{id}/configurations/preview': 'limited unless checks',

  // People
  'GET /people': 'limited',
  'GET /people/{id}': 'limited',
  'GET /people/{id}/person_groups': 'limited',
  'GET /people/{id}/registered_devices': 'limited',
  'GET /people/{id}/open_issues': 'limited',
  'GET /deprovisioned_people': 'limited',
  'GET /deprovisioned_people/{id}': 'limited',
  'GET /scim_settings': 'limited unless people',

  // Person groups
  'GET /person_groups': 'limited',
  'GET /person_groups/{id}': 'limited',
  'GET /person_groups/{id}/people': 'limited',

  // Custom check drafts
  'GET /custom_check_drafts': 'limited',
  'GET /custom_check_drafts/{id}': 'limited',
  'POST /custom_check_drafts': 'limited unless checks',
  'PATCH /custom_check_drafts/{id}': 'limited unless checks',
  'PUT /custom_check_drafts/{id}': 'limited unless checks',
  'POST /custom_check_drafts/{id}/publish': 'limited unless checks',
  'DELETE /custom_check_drafts/{id}': 'limited unless checks',
  'POST /custom_check_drafts/{id}/runs': 'limited unless live_queries',
  'GET /custom_check_drafts/{id}/runs/{campaign_id}': 'limited unless live_queries',
  'POST /custom_check_drafts/{id}/preview': 'limited unless checks',

  // Requests
  'GET /exemption_requests': 'limited',
  'GET /exemption_requests/{id}': 'limited',
  'POST /exemption_requests': 'limited unless requests',
  'PATCH /exemption_requests/{id}': 'limited unless requests',
  'PUT /exemption_requests/{id}': 'limited unless requests',
  'POST /exemption_requests/decisions': 'limited unless requests, step-up',
  'GET /registration_requests': 'limited',
  'GET /registration_requests/{id}': 'limited',
  'POST /registration_requests': 'limited unless requests',
  'POST /registration_requests/decisions': 'limited unless requests, step-up',
  'PATCH /registration_requests/{id}': 'limited unless requests',
  'PUT /registration_requests/{id}': 'limited unless requests',
  'GET /reenrollment_requests': 'limited',
  'GET /reenrollment_requests/{id}': 'limited',
  'PATCH /reenrollment_requests/{id}': 'limited unless enrollment',
  'PUT /reenrollment_requests/{id}': 'limited unless enrollment',

  // Issues
  'GET /issues': 'limited',
  'GET /issues/{id}': 'limited',

  // Auth logs
  'GET /auth_logs': 'limited unless sign_ins',
  'GET /auth_logs/{id}': 'limited unless sign_ins',
  'POST /auth_logs': 'limited unless sign_ins',
  'PATCH /auth_logs/{id}': 'limited unless sign_ins',
  'PUT /auth_logs/{id}': 'limited unless sign_ins',
  'POST /auth_logs/{id}/close': 'limited unless sign_ins',

  // Audit logs
  'GET /audit_logs': 'full',
  'GET /audit_logs/{id}': 'full',
  'GET /audit_logs/{id}/changes': 'full',
  'GET /audit_checkpoints/latest': 'full',
  'GET /audit_checkpoints/consistency_proof': 'full',
  'GET /audit_logs/{id}/inclusion_proof': 'full',

  // Live
  'GET /live': 'limited',
  'GET /deliveries': 'limited',
  'GET /event_search': 'limited',

  // Admins
  'GET /admin_users': 'limited',
  'GET /admin_users/{id}': 'limited',
  'PATCH /admin_users/{id}': 'full, step-up',
  'PUT /admin_users/{id}': 'full, step-up',
  'DELETE /admin_users/{id}': 'full, step-up',
  'POST /admin_users': 'full, step-up',
  'POST /admin_users/{id}/sign_in_link': 'full, step-up',
  'GET /admin_sessions': 'full',
  'DELETE /admin_sessions/{id}': 'full',

  // Identity provider
  'GET /console/identity_provider': 'full',
  'PATCH /console/identity_provider': 'full, step-up',
  'PUT /console/identity_provider': 'full, step-up',
  'DELETE /console/identity_provider': 'full, step-up',
  'POST /console/identity_provider/check': 'full',

  // Console session
  'GET /console/session': 'billing',
  'DELETE /console/session': 'billing',
  'POST /console/session/link_details': 'everybody',
  'POST /console/session/link': 'everybody',
  'POST /console/session/passkey_options': 'everybody',
  'POST /console/session/passkey': 'everybody',
  'POST /console/session/step_up_options': 'billing',
  'POST /console/session/step_up': 'billing',
  'GET /console/session/passkeys': 'billing',
  'POST /console/session/passkeys': 'billing',
  'POST /console/session/passkeys/options': 'billing',
  'DELETE /console/session/passkeys/{id}': 'billing, step-up',
  'POST /console/session/password': 'everybody',
  'POST /console/session/step_up_code': 'billing',
  'POST /console/session/own_password/options': 'billing',
  'POST /console/session/own_password': 'billing',
  'GET /console/session/own_password': 'billing',
  'PATCH /console/session/own_password': 'billing, step-up',
  'PUT /console/session/own_password': 'billing, step-up',
  'DELETE /console/session/own_password': 'billing, step-up',
  'GET /console/session/provider': 'everybody',
  'POST /console/session/provider': 'everybody',
  'POST /console/session/provider/start': 'everybody',
  'POST /console/session/provider/step_up': 'billing',
  'POST /console/session/provider/connect': 'billing',
  'GET /console/session/identities': 'billing',
  'DELETE /console/session/identities/{id}': 'billing, step-up',
  'GET /console/session/sessions': 'billing',
  'DELETE /console/session/sessions/{id}': 'billing',

  // API keys
  'GET /api_keys': 'full',
  'GET /api_keys/{id}': 'full',
  'POST /api_keys': 'full, step-up',
  'PATCH /api_keys/{id}': 'full, step-up',
  'PUT /api_keys/{id}': 'full, step-up',
  'DELETE /api_keys/{id}': 'full',
  'POST /api_keys/{id}/rotate': 'full, step-up',
  'POST /api_keys/{id}/reveal': 'full, step-up',
  'GET /api_keys/{id}/refusals': 'full',
  'POST /api_keys/{id}/try_permissions': 'full',

  // Organisation
  'GET /whoami': 'billing',
  'GET /organisation': 'billing',
  'PATCH /organisation': 'full, step-up',
  'PUT /organisation': 'full, step-up',
  'GET /retention_policies': 'limited',

  // Saved views
  'GET /saved_views': 'limited',
  'POST /saved_views': 'limited',
  'PATCH /saved_views/{id}': 'limited',
  'PUT /saved_views/{id}': 'limited',
  'DELETE /saved_views/{id}': 'limited',

  // Live queries
  'GET /live_query_campaigns': 'limited unless live_queries',
  'GET /live_query_campaigns/{id}': 'limited unless live_queries',
  'GET /live_query_campaigns/{id}/query_results': 'limited unless live_queries',
  'GET /live_query_campaigns/{id}/devices': 'limited unless live_queries',
  'POST /live_query_campaigns': 'limited unless live_queries',
  'PATCH /live_query_campaigns/{id}': 'limited unless live_queries',
  'PUT /live_query_campaigns/{id}': 'limited unless live_queries',
  'DELETE /live_query_campaigns/{id}': 'limited unless live_queries',

  // Reporting
  'GET /reporting/tables': 'limited unless reporting',
  'GET /reporting/tables/{name}': 'limited unless reporting',
  'GET /reporting/tables/{name}/table_records': 'limited unless reporting',
  'GET /reporting/queries': 'limited unless reporting',
  'GET /reporting/queries/{id}': 'limited unless reporting',
  'GET /reporting/queries/{id}/results': 'limited unless reporting',
  'POST /reporting/queries': 'limited unless reporting',
  'PATCH /reporting/queries/{id}': 'limited unless reporting',
  'PUT /reporting/queries/{id}': 'limited unless reporting',
  'DELETE /reporting/queries/{id}': 'limited unless reporting',

  // Packages
  'GET /packages': 'limited unless enrollment',
  'GET /packages/{id}': 'limited unless enrollment',
  'GET /packages/{id}/download': 'limited unless enrollment, step-up',

  // Enrollment secrets
  'GET /enrollment_secrets': 'limited unless enrollment',
  'GET /enrollment_secrets/{id}': 'limited unless enrollment',
  'POST /enrollment_secrets': 'limited unless enrollment, step-up',
  'DELETE /enrollment_secrets/{id}': 'limited unless enrollment',

  // Shared Signals
  'GET /.well-known/ssf-configuration': 'everybody',
  'GET /ssf_clients': 'limited unless signals',
  'GET /ssf_clients/{id}': 'limited unless signals',
  'POST /ssf_clients': 'limited unless signals, step-up',
  'PATCH /ssf_clients/{id}': 'limited unless signals, step-up',
  'PUT /ssf_clients/{id}': 'limited unless signals, step-up',
  'POST /ssf_clients/{id}/rotate_secret': 'limited unless signals, step-up',
  'DELETE /ssf_clients/{id}': 'limited unless signals',
  'GET /ssf/jwks.json': 'everybody',
  'GET /ssf_signing_keys': 'limited unless signals',
  'POST /ssf_signing_keys/rotate': 'limited unless signals, step-up',
  'POST /ssf_signing_keys/rollback': 'limited unless signals, step-up',
  'POST /ssf_signing_keys/{kid}/revoke': 'limited unless signals, step-up',
  'GET /ssf_streams/{id}/health': 'limited unless signals',
  'POST /ssf_streams/{id}/self_test': 'limited unless signals',
  'GET /ssf_streams/{id}/self_test': 'limited unless signals',
  'POST /ssf_streams/{id}/explain': 'limited unless signals',
  'GET /ssf_streams/status': 'limited unless signals',
  'POST /ssf_streams/status': 'limited unless signals',
  'GET /ssf_streams/{id}/state': 'limited unless signals',
  'POST /ssf_streams/{id}/replay': 'limited unless signals',
  'POST /ssf_streams/{id}/backfill': 'limited unless signals',
  'GET /ssf_streams/{id}/subjects': 'limited unless signals',
  'POST /ssf_streams/{id}/add_subject': 'limited unless signals',
  'POST /ssf_streams/{id}/remove_subject': 'limited unless signals',
  'GET /ssf_streams/{id}/deliveries': 'limited unless signals',
  'GET /ssf_streams/{id}/deliveries/{event_id}': 'limited unless signals',
  'POST /ssf_streams/{id}/deliveries/{event_id}/resend': 'limited unless signals',
  'POST /ssf_streams/{id}/redrive': 'limited unless signals',
  'POST /ssf_streams/{id}/discard': 'limited unless signals',
  'GET /ssf_streams': 'limited unless signals',
  'GET /ssf_streams/{id}': 'limited unless signals',
  'POST /ssf_streams': 'limited unless signals, step-up',
  'PATCH /ssf_streams/{id}': 'limited unless signals, step-up',
  'PUT /ssf_streams/{id}': 'limited unless signals, step-up',
  'DELETE /ssf_streams/{id}': 'limited unless signals, step-up',
  'PATCH /ssf_streams': 'limited unless signals, step-up',
  'PUT /ssf_streams': 'limited unless signals, step-up',
  'DELETE /ssf_streams': 'limited unless signals, step-up',
  'POST /ssf_streams/{id}/test': 'limited unless signals',
  'POST /ssf_streams/verify': 'limited unless signals',
  'GET /ssf_streams/{id}/events': 'limited unless signals',
  'POST /ssf_streams/{id}/events': 'limited unless signals',
  'GET /ssf_streams/{id}/poll_token': 'limited unless signals',
  'POST /ssf_streams/{id}/poll_token': 'limited unless signals, step-up',
  'POST /ssf_streams/{id}/rotate_poll_token': 'limited unless signals, step-up',

  // Webhooks
  'GET /webhooks': 'limited unless webhooks',
  'GET /webhooks/{id}': 'limited unless webhooks',
  'POST /webhooks': 'limited unless webhooks, step-up',
  'PATCH /webhooks/{id}': 'limited unless webhooks, step-up',
  'PUT /webhooks/{id}': 'limited unless webhooks, step-up',
  'DELETE /webhooks/{id}': 'limited unless webhooks',
  'GET /webhooks/{id}/secret': 'limited unless webhooks, step-up',
  'POST /webhooks/{id}/rotate_secret': 'limited unless webhooks, step-up',
  'POST /webhooks/{id}/test': 'limited unless webhooks',
  'POST /webhooks/{id}/check_signature': 'limited unless webhooks',
  'GET /webhooks/{id}/deliveries': 'limited unless webhooks',
  'GET /webhooks/{id}/deliveries/{event_id}': 'limited unless webhooks',
  'POST /webhooks/{id}/deliveries/{event_id}/resend': 'limited unless webhooks',
  'POST /webhooks/{id}/redrive': 'limited unless webhooks',
  'POST /webhooks/{id}/discard': 'limited unless webhooks',
  'POST /webhooks/{id}/recover': 'limited unless webhooks',
  'GET /webhook_events': 'limited unless webhooks',
  'GET /webhook_events/{id}': 'limited unless webhooks',

  // Overview
  'GET /overview': 'limited',
  'GET /overview/device_statuses': 'limited',
}

/** What is decided on an operation. Whoever may see a list may export it, after a proof of presence. */
export function decisionOn(name: string): string | undefined {
  const list = /^GET \/exports(?<path>\/.+)\.csv$/.exec(name)?.groups?.['path']
  if (list === undefined) return ADMIN_ACCESS[name]
  const decision = ADMIN_ACCESS[`GET ${list}`]
  return decision === undefined ? undefined : `${decision}, step-up`
}
