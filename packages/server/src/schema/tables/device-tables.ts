import type { Generated } from 'kysely'
import type { BigCount, DefaultBigCount, Id } from './column-types.ts'
import type { AuthState, Compliance, InitiatingEntity } from '../status-values.ts'

export type Platform = 'darwin' | 'windows' | 'linux' | 'ios' | 'android'

/** These tables by their names. */
export interface DeviceTables {
  enrollment_secret: {
    id: Id
    name: string
    secret_hash: Buffer
    secret_sealed: Buffer
    person_id: string | null
    created_at: Date
    updated_at: Date
    expires_at: Date | null
    revoked_at: Date | null
    last_used_at: Date | null
    use_count: DefaultBigCount
    uses_max: BigCount | null
    alarm_uses_per_hour: DefaultBigCount | null
    hour_began_at: Date | null
    hour_uses: DefaultBigCount
    unusual_use_at: Date | null
  }
  device: {
    id: Id
    host_identifier: string
    hardware_uuid: string | null
    serial: string | null
    name: string
    platform: Platform
    form_factor: Generated<'computer' | 'tablet' | 'phone'>
    operating_system: Generated<string>
    hardware_model: Generated<string>
    osquery_version: string | null
    note: string | null
    owner_person_id: string | null
    registered_at: Date | null
    last_authenticated_at: Date | null
    authentication_mode: Generated<
      'only_registered_owner' | 'only_registered_owner_or_group_members' | 'anyone'
    >
    enrollment_secret_id: string | null
    enrolled_at: Date | null
    node_key_hash: Buffer | null
    agent_disabled_at: Date | null
    auth_state: Generated<AuthState>
    will_block_at: Date | null
    compliance: Generated<Compliance>
    evaluated_at: Date | null
    status_changed_at: Date | null
    reevaluate_at: Date | null
    checks_ran_at: Date | null
    deletion_requested_at: Date | null
    deletion_requested_by: string | null
    deletion_due_at: Date | null
    created_at: Date
    updated_at: Date
    enrolled_from: string | null
    duplicate_hardware_since: Date | null
    /** Whose registration ended last. */
    former_owner_person_id: string | null
    registration_ended_at: Date | null
  }
  device_authentication_group: {
    device_id: string
    person_group_id: string
  }
  removed_host: {
    host_identifier: string
    device_name: string
    removed_at: Date
  }
  /** The status of each device once more, to find devices by; triggers of `device` write it. */
  device_auth_state: {
    device_id: string
    auth_state: AuthState
    will_block_at: Date | null
  }
  device_contact: {
    device_id: string
    last_seen_at: Date
    ip_address: string | null
  }
  device_round: {
    device_id: string
    ran_at: Date
  }
  device_status_transition: {
    id: Id
    device_id: string
    occurred_at: Date
    from_state: AuthState
    to_state: AuthState
    from_compliance: Compliance
    to_compliance: Compliance
    initiating_entity: InitiatingEntity
    actor_name: string
    reason: string
    txn: string
  }
  device_status_count: {
    counted_at: Date
    good: number
    notified: number
    will_block: number
    blocked: number
  }
  device_group: {
    id: Id
    name: string
    description: Generated<string>
    members_count: Generated<number>
    created_at: Date
    updated_at: Date
  }
  device_group_member: {
    device_group_id: string
    device_id: string
    added_at: Date
  }
  registration_request: {
    id: Id
    device_id: string
    requester_person_id: string | null
    requester_message: string
    /** The user of the operating system as whom the requester was proven on the device; null where nobody was. */
    os_uid: string | null
    os_user_name: string | null
    status: Generated<'pending' | 'approved' | 'denied'>
    internal_approval_note: string | null
    internal_denial_note: string | null
    end_user_denial_note: string | null
    requested_at: Date
    decided_at: Date | null
    decided_by: string | null
    updated_at: Date
  }
  reenrollment_request: {
    id: Id
    device_id: string
    reason: 'live_node_key' | 'known_hardware' | 'other_owner'
    status: Generated<'pending' | 'approved' | 'denied' | 'completed'>
    host_identifier: string
    host_name: string
    serial: string | null
    hardware_uuid: string | null
    ip_address: string | null
    known_ip_address: string | null
    enrollment_secret_id: string
    attempts_count: DefaultBigCount
    requested_at: Date
    last_requested_at: Date
    decided_at: Date | null
    decided_by: string | null
    approved_until: Date | null
    updated_at: Date
  }
}
