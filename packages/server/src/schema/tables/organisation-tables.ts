import type { Generated } from 'kysely'
import type { BigCount, Id } from './column-types.ts'

/** These tables by their names. */
export interface OrganisationTables {
  organisation: {
    id: Generated<number>
    name: string
    compliance_threshold: Generated<'blocked' | 'will_block' | 'notified'>
    api_writes_enabled: Generated<boolean>
    ssf_enabled: Generated<boolean>
    admins_require_trusted_device: Generated<boolean>
    created_at: Date
    updated_at: Date
    prepared_for: Generated<string | null>
  }
  admin_user: {
    id: Id
    first_name: string
    last_name: string
    email: string
    access: 'full' | 'limited' | 'billing_only'
    restrictions: Generated<string[]>
    created_at: Date
    updated_at: Date
    deactivated_at: Generated<Date | null>
    last_sign_in_at: Generated<Date | null>
  }
  api_key: {
    id: Id
    name: string
    /** Null only for a key that was revoked before its admin was removed. */
    responsible_admin_id: string | null
    secret_hash: Buffer
    secret_sealed: Buffer
    secret_last_four: string
    created_at: Date
    updated_at: Date
    expires_at: Date | null
    revoked_at: Date | null
    last_used_at: Date | null
    rotated_from_id: string | null
  }
  api_key_permission: {
    api_key_id: string
    permission: string
    rationale: string
    granted_at: Date
  }
  admin_session: {
    id: Id
    admin_id: string
    token_hash: Buffer
    previous_token_hash: Buffer | null
    rotated_at: Date | null
    method: 'link' | 'demo' | 'passkey' | 'password' | 'oidc'
    is_setup_pending: Generated<boolean>
    stepped_up_at: Date | null
    user_agent: string | null
    ip_address: string | null
    created_at: Generated<Date>
    last_used_at: Generated<Date>
    expires_at: Date
    /** What the proof of the device granted. */
    granted_session_id: Generated<string | null>
  }
  admin_sign_in_link: {
    id: Id
    /** Null for the link of an admin who does not exist yet. */
    admin_id: string | null
    kind: 'first_admin' | 'invitation' | 'recovery' | 'demo'
    token_hash: Buffer
    created_at: Generated<Date>
    expires_at: Date
  }
  /** A view of a list in the console, under a name. */
  saved_view: {
    id: Id
    /** Null for what belongs to the organisation, and is shared. */
    owner_id: string | null
    name: string
    list: string
    page: string
    search: string
    columns: string[] | null
    row_order: 'asc' | 'desc' | null
    is_shared: boolean
    created_at: Date
    updated_at: Date
  }
  /** Of a key, a permission and a day (UTC): what the key used it for, and what it was refused for. */
  api_key_permission_use: {
    id: Id
    api_key_id: string
    permission: string
    day_began_at: Date
    allowed_count: Generated<string>
    refused_count: Generated<string>
    last_allowed_at: Date | null
    last_refused_at: Date | null
    last_refused_operation: string | null
  }
  admin_passkey: {
    id: Id
    admin_id: string
    credential_id: Buffer
    public_key: Buffer
    counter: BigCount
    transports: string[]
    name: string
    is_backed_up: boolean
    created_at: Generated<Date>
    last_used_at: Date | null
  }
  admin_password: {
    admin_id: string
    password_hash: string
    totp_secret_sealed: Buffer
    last_used_step: BigCount
    wrong_code_count: Generated<number>
    created_at: Generated<Date>
    changed_at: Generated<Date>
    last_used_at: Date | null
  }
  /** By which invited admins sign in; one row at most. */
  admin_identity_provider: {
    id: Id
    is_single: Generated<boolean>
    name: string
    issuer: string
    client_id: string
    client_secret_sealed: Buffer
    enabled: boolean
    group_claim: string | null
    full_access_groups: Generated<string[]>
    limited_access_groups: Generated<string[]>
    created_at: Date
    updated_at: Date
  }
  /** As whom an identity provider knows an admin. */
  admin_identity: {
    id: Id
    admin_id: string
    issuer: string
    subject: string
    created_at: Date
    last_used_at: Date | null
  }
  admin_used_challenge: {
    challenge_hash: Buffer
    expires_at: Date
  }
  /** The last run of a periodic job of the installation. */
  job_run: {
    name: string
    started_at: Date
    finished_at: Date | null
    error: string | null
  }
  /** The time from which sweeps of retention count the age of rows. */
  retention_clock: {
    is_single: Generated<boolean>
    reached_at: Date
  }
  /** How far the sweep of a policy of retention is. */
  retention_state: {
    policy: string
    /** How old a row may become; null keeps for ever. */
    keeps_ms: string | null
    place: string[] | null
    pass_started_at: Date | null
    pass_finished_at: Date | null
    pass_count: Generated<string>
    total_count: Generated<string>
    error: string | null
  }
}
