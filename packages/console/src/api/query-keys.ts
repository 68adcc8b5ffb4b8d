/*
 * How the console names what it has read. The first member of every key is a collection: the name that its path
 * has in the API, so that live messages (`GET /live`) reach it without a table between the two. The compiler holds
 * every key to these names.
 */

import type {} from '@tanstack/react-query'

/** The collections whose changes `GET /live` tells. */
type LiveCollection =
  | 'admin_sessions'
  | 'admin_users'
  | 'api_keys'
  | 'audit_logs'
  | 'auth_logs'
  | 'checks'
  | 'custom_check_drafts'
  | 'deliveries'
  | 'device_groups'
  | 'devices'
  | 'enrollment_secrets'
  | 'exemption_requests'
  | 'issues'
  | 'live_query_campaigns'
  | 'organisation'
  | 'people'
  | 'person_groups'
  | 'reenrollment_requests'
  | 'registration_requests'
  | 'reporting_queries'
  | 'saved_views'
  | 'sign_in_applications'
  | 'sign_in_attempts'
  | 'sign_in_browser_keys'
  | 'sign_in_entra_accounts'
  | 'sign_in_policy'
  | 'sign_in_sessions'
  | 'sign_in_upstream_providers'
  | 'ssf_clients'
  | 'ssf_signing_keys'
  | 'ssf_streams'
  | 'webhooks'

/** What is read besides, or worked out in the browser (`computed`): nobody is told of its changes. */
type QuietCollection =
  'audit_checkpoints' | 'computed' | 'event_search' | 'overview' | 'reporting_tables' | 'session'

declare module '@tanstack/react-query' {
  interface Register {
    queryKey: readonly [LiveCollection | QuietCollection, ...(readonly unknown[])]
  }
}
