import type { Generated } from 'kysely'
import type { Assurance } from './sign-in-tables.ts'

/** What sign-ins have granted, and telling applications of its end. */
export interface GrantedSessionTables {
  /** What somebody was granted who signed in here. */
  sign_in_granted_session: {
    id: string
    sid: string
    application_id: string | null
    person_id: string
    device_id: string | null
    assurance: Assurance
    attempt_id: string | null
    cookie_hash: Buffer | null
    granted_at: Date
    expires_at: Date
    ended_at: Date | null
    end_reason:
      | 'device_blocked'
      | 'device_gone'
      | 'person_gone'
      | 'owner_changed'
      | 'registration_ended'
      | 'admin'
      | 'logout'
      | 'application'
      | 'browser_key'
      | null
    logout_due_at: Date | null
    logout_attempts: Generated<number>
    logout_outcome: 'told' | 'given_up' | null
    logout_failure: string | null
  }
  /** Which worker tells an application of the ends of its sessions, and since when it does not answer. */
  sign_in_logout_turn: {
    application_id: string
    free_at: Date | null
    failures: Generated<number>
  }
}
