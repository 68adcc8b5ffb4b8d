import type { Generated } from 'kysely'
import type { DefaultJson, Id } from './column-types.ts'

/** An issue that was shown during a sign-in. */
export interface DisplayedIssue {
  id: string
  title: string
  blocking_status: 'blocked' | 'will_block'
}

/** One step of a sign-in. */
export interface AuthLogEvent {
  timestamp: string
  event_type: string
  event_description: string
}

/** These tables by their names. */
export interface SignInTables {
  auth_log_session: {
    id: Id
    started_at: Date
    finished_at: Date | null
    person_id: string | null
    person_name: string
    person_email: string
    device_id: string | null
    result: 'Success' | 'Fail' | null
    initial_status: Generated<'all_good' | 'will_block' | 'blocked' | 'unknown'>
    ip_address: string | null
    agent_version: string | null
    country: string | null
    city: string | null
    browser_name: string | null
    browser_version: string | null
    browser_user_agent: string | null
    issues_displayed: DefaultJson<DisplayedIssue[]>
    events: DefaultJson<AuthLogEvent[]>
    app_instance_id: string | null
    app_name: string | null
    txn: string | null
    timeout_seconds: Generated<number>
    /** When a sign-in under way counts as abandoned; null once it has ended. */
    expires_at: Generated<Date | null>
    updated_at: Date
  }
}
