/*
 * The collections whose changes the service tells those who watch (`GET /live`), under the names that their
 * paths have in the API.
 */

/** The collections, each with the types of the targets under which audit entries name its records. */
export const LIVE_COLLECTIONS = {
  admin_sessions: ['admin_session'],
  admin_users: ['admin_user'],
  api_keys: ['api_key'],
  audit_logs: [],
  auth_logs: ['auth_log'],
  checks: ['check'],
  custom_check_drafts: ['custom_check_draft'],
  deliveries: [],
  device_groups: ['device_group'],
  devices: ['device', 'host'],
  enrollment_secrets: ['enrollment_secret'],
  exemption_requests: ['exemption_request'],
  issues: [],
  live_query_campaigns: ['live_query_campaign'],
  organisation: ['organisation'],
  people: ['person'],
  person_groups: ['person_group'],
  reenrollment_requests: ['reenrollment_request'],
  registration_requests: ['registration_request'],
  reporting_queries: ['reporting_query'],
  saved_views: ['saved_view'],
  sign_in_applications: ['sign_in_application'],
  sign_in_attempts: ['sign_in_attempt'],
  sign_in_policy: ['sign_in_policy'],
  sign_in_sessions: ['sign_in_session'],
  sign_in_upstream_providers: ['sign_in_upstream_provider'],
  ssf_clients: ['ssf_client'],
  ssf_signing_keys: ['signing_key'],
  ssf_streams: ['ssf_stream'],
  webhooks: ['webhook'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type LiveCollection = keyof typeof LIVE_COLLECTIONS

/** A collection, or one of its records by its id. */
export type LiveTopic = LiveCollection | `${LiveCollection}:${string}`

const COLLECTION_OF_TARGET: ReadonlyMap<string, LiveCollection> = new Map(
  (Object.keys(LIVE_COLLECTIONS) as LiveCollection[]).flatMap((collection) =>
    LIVE_COLLECTIONS[collection].map((type) => [type, collection] as const),
  ),
)

/** The collection of a target of audit entries; undefined for one that is told under no name. */
export function collectionOfTarget(type: string): LiveCollection | undefined {
  return COLLECTION_OF_TARGET.get(type)
}
