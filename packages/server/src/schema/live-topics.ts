/*
 * The collections whose changes the service tells those who watch (`GET /live`), under the names that their
 * paths have in the API, and who is told of them.
 */
import { ALL_TOPICS, collectionOf } from '../platform/live/topic-set.ts'
import { mayOpenArea } from './access-levels.ts'
import type { Permission } from './permissions.ts'

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
  sign_in_browser_keys: ['browser_key'],
  sign_in_entra_accounts: ['entra_account'],
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

/** Who is told of a collection: whoever may list it. */
interface LiveAccess {
  /** The tag of the operation that lists it. */
  readonly area: string
  readonly permission: Permission | null
}

const LIVE_ACCESS: Readonly<Record<LiveCollection, LiveAccess>> = {
  admin_sessions: { area: 'Admins', permission: 'Manage Admins' },
  admin_users: { area: 'Admins', permission: null },
  api_keys: { area: 'API keys', permission: 'Manage API Keys' },
  audit_logs: { area: 'Audit logs', permission: null },
  auth_logs: { area: 'Auth logs', permission: null },
  checks: { area: 'Checks', permission: null },
  custom_check_drafts: { area: 'Custom check drafts', permission: null },
  deliveries: { area: 'Deliveries', permission: null },
  device_groups: { area: 'Device groups', permission: null },
  devices: { area: 'Devices', permission: null },
  enrollment_secrets: { area: 'Enrollment secrets', permission: 'Manage Enrollment' },
  exemption_requests: { area: 'Requests', permission: null },
  issues: { area: 'Issues', permission: null },
  live_query_campaigns: { area: 'Live queries', permission: null },
  organisation: { area: 'Organisation', permission: null },
  people: { area: 'People', permission: null },
  person_groups: { area: 'Person groups', permission: null },
  reenrollment_requests: { area: 'Requests', permission: null },
  registration_requests: { area: 'Requests', permission: null },
  reporting_queries: { area: 'Reporting', permission: null },
  saved_views: { area: 'Saved views', permission: null },
  sign_in_applications: { area: 'Sign-in', permission: 'Read Sign-in' },
  sign_in_attempts: { area: 'Sign-in', permission: 'Read Sign-in' },
  sign_in_browser_keys: { area: 'Sign-in', permission: 'Read Sign-in' },
  sign_in_entra_accounts: { area: 'Sign-in', permission: 'Read Sign-in' },
  sign_in_policy: { area: 'Sign-in', permission: 'Read Sign-in' },
  sign_in_sessions: { area: 'Sign-in', permission: 'Read Sign-in' },
  sign_in_upstream_providers: { area: 'Sign-in', permission: 'Read Sign-in' },
  ssf_clients: { area: 'Shared Signals', permission: 'Manage Shared Signals Framework Streams' },
  ssf_signing_keys: {
    area: 'Shared Signals',
    permission: 'Manage Shared Signals Framework Streams',
  },
  ssf_streams: { area: 'Shared Signals', permission: 'Manage Shared Signals Framework Streams' },
  webhooks: { area: 'Webhooks', permission: 'Manage Webhooks' },
}

/** Who watches what changes: by a key, or with the session of an admin. */
interface LiveListener {
  readonly permissions: ReadonlySet<string>
  readonly session?: object
}

/** Whether somebody may be told that a topic has changed: that all has carries no name of anything. */
export function mayHearOf(topic: string, { permissions, session }: LiveListener): boolean {
  if (topic === ALL_TOPICS) return true
  const collection = collectionOf(topic)
  if (!Object.hasOwn(LIVE_ACCESS, collection)) return false
  const { area, permission } = LIVE_ACCESS[collection as LiveCollection]
  return (permission === null || permissions.has(permission)) && mayOpenArea(session, area)
}
