import type { ColumnType, Generated } from 'kysely'
import type { DefaultJson, Id, Json } from './column-types.ts'
import type { ClientJwks } from './ssf-client-tables.ts'

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

/** How strongly a device was known, weakest last; `none` where nothing had to be proven. */
export type Assurance = 'hardware' | 'live' | 'approved' | 'key' | 'none'

/** What somebody may do who cannot prove a device live. */
export type Fallback = 'registered_device' | 'certificate' | 'admin_approval' | 'browser_key'

/** Who may confirm a device. */
export type ConfirmationWay = 'registered_device' | 'admin_approval'

/** Where a sign-in stands. */
export type AttemptStage =
  | 'person'
  | 'device'
  | 'registration'
  | 'fallback'
  | 'posture'
  | 'blocked'
  | 'warned'
  | 'done'
  | 'refused'
  | 'abandoned'

/** What a sign-in must come to, or the application takes none. OpenID Connect Core 1.0 sections 3.1.2.1 and 5.5.1. */
export interface EssentialClaims {
  /** One of these for `acr`. */
  readonly acrs?: readonly string[]
  /** The person named by `sub`, and the one by an ID token: both, where both are named. */
  readonly subjects?: readonly string[]
}

/** How the browser of an attempt gets back to whoever sent it. */
export type AttemptInteraction =
  | { readonly kind: 'oidc'; readonly uid: string; readonly essential?: EssentialClaims }
  | {
      readonly kind: 'entra'
      readonly redirectUri: string
      readonly state: string | null
      readonly nonce: string
      readonly subject: string
      readonly amr: readonly string[]
    }
  /** `state` ties what comes of it to the browser that began at the site. */
  | { readonly kind: 'forward_auth'; readonly url: string; readonly state: string }
  | { readonly kind: 'person_pages'; readonly path: string }

/** By what a device was known: values for people to read, such as ports, pid, path, OS user and latency. */
export type AttemptEvidence = Readonly<Record<string, unknown>>

/** A program on a device that owns the sockets of browsers. */
export interface TrustedLocalProxy {
  readonly name: string
  readonly path: string
}

/** The header in which proxies in front of the service tell the certificate of a client. */
export interface CertificateHeader {
  readonly name: string
  /** Addresses and ranges of the proxies that may send it. */
  readonly proxies: readonly string[]
}

/** A public key of a browser: EC, P-256. RFC 7517. */
export interface BrowserKeyJwk {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
}

/** A picture. */
export interface BrandLogo {
  readonly type: 'image/svg+xml' | 'image/png'
  /** Base64. */
  readonly data: string
}

/** A `jsonb` column that may be null. */
type NullableJson<T> = ColumnType<T | null, string | null | undefined, string | null>

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
  /** A provider of OpenID Connect by which people are known before they are let in. */
  sign_in_upstream_provider: {
    id: Id
    name: string
    issuer: string
    client_id: string
    client_secret_sealed: Buffer
    scopes: string[]
    created_at: Date
    updated_at: Date
  }
  /** Who sends people here to sign in. */
  sign_in_application: {
    id: Id
    name: string
    kind: 'oidc' | 'entra' | 'forward_auth'
    mode: 'step_up' | 'broker'
    client_id: string
    client_secret_sealed: Buffer | null
    token_endpoint_auth_method:
      'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | 'none'
    redirect_uris: Generated<string[]>
    post_logout_redirect_uris: Generated<string[]>
    jwks: NullableJson<ClientJwks>
    jwks_uri: string | null
    backchannel_logout_uri: string | null
    upstream_provider_id: string | null
    minimum_assurance: Generated<'live' | 'hardware' | 'approved' | 'key'>
    is_serial_claimed: Generated<boolean>
    claims_profile: Generated<'standard' | 'okta'>
    entra_tenant_id: string | null
    entra_app_id: string | null
    entra_cloud: 'global' | 'us_government' | 'china' | null
    hosts: Generated<string[]>
    session_seconds: number
    is_enabled: Generated<boolean>
    created_at: Date
    updated_at: Date
    /** Since when it exists only to be told of the ends of its sessions. */
    deleted_at: Date | null
  }
  /** What is decided about sign-ins; one row at most. */
  sign_in_policy: {
    id: Id
    is_single: Generated<boolean>
    fallbacks: Fallback[]
    browser_key_days: number
    first_registration: 'on_first_use' | 'admin_approval' | 'refuse'
    further_registration: 'registered_device' | 'admin_approval' | 'registered_device_or_admin'
    unreachable_device: 'refuse' | 'last_known'
    last_known_minutes: number
    upstream_outage: 'refuse' | 'remembered_person'
    break_glass_group_id: string | null
    recheck_age_minutes: number
    trusted_local_proxies: DefaultJson<TrustedLocalProxy[]>
    certificate_header: NullableJson<CertificateHeader>
    brand_name: string | null
    brand_logo: NullableJson<BrandLogo>
    brand_colour: string | null
    updated_at: Date
  }
  /** A sign-in from its beginning to its end. */
  sign_in_attempt: {
    id: string
    secret_hash: Buffer
    auth_log_session_id: string | null
    application_id: string | null
    interaction: Json<AttemptInteraction>
    stage: AttemptStage
    login_hint: string | null
    person_id: string | null
    device_id: string | null
    assurance: Assurance | null
    amr: Generated<string[]>
    evidence: DefaultJson<AttemptEvidence>
    /** What the ladder of fallbacks and the registration remember, owned by them. */
    fallback_state: DefaultJson<Readonly<Record<string, unknown>>>
    refusal_code: string | null
    language: string
    ip_address: string | null
    /** Whose doing it counts as: the address, or the network of an IPv6 address. */
    address_bucket: string | null
    user_agent: string | null
    started_at: Date
    expires_at: Date
    ended_at: Date | null
    returned_at: Date | null
    revision: Generated<number>
    txn: string | null
    /** When its browser showed a key, good or not: once. */
    browser_key_shown_at: Date | null
    /** The key that its browser holds. */
    browser_key_id: string | null
  }
  /** A key that a browser holds, bound to the device on which it was proven. */
  browser_key: {
    id: string
    person_id: string
    device_id: string
    public_jwk: Json<BrowserKeyJwk>
    user_agent: string | null
    bound_at: Date
    last_used_at: Date
    last_proven_at: Date
    ended_at: Date | null
    end_reason: 'copied' | 'other_device' | 'person' | 'admin' | 'replaced' | null
  }
  /** A public key of a browser that another one has taken the place of. */
  browser_key_former: {
    thumbprint: string
    browser_key_id: string
  }
  /** By which account of Entra a person signs in. */
  entra_account: {
    id: string
    tenant_id: string
    object_id: string
    person_id: string
    username: string
    first_seen_at: Date
  }
  /** What signs ID tokens. */
  sign_in_key: {
    kid: string
    public_jwk: Json<Record<string, string>>
    private_key_sealed: Buffer
    certificate: string
    created_at: Date
    active_from: Date
    retired_at: Date | null
  }
  /** What the provider of ID tokens remembers. */
  sign_in_provider_state: {
    key_hash: Buffer
    kind: string
    payload_sealed: Buffer
    grant_hash: Buffer | null
    uid_hash: Buffer | null
    consumed_at: Date | null
    expires_at: Date
  }
  /** A port that one proof of a device has for a time. */
  sign_in_probe_lease: {
    port: number
    proof_id: string
    attempt_id: string
    position: number
    token_hash: Buffer
    cookie_hash: Buffer
    ip_address: string | null
    leased_at: Date
    leased_until: Date
    /** Since when the devices are being asked; null while the browser opens its ports. */
    claimed_at: Date | null
  }
  /** Who came to a leased port. */
  sign_in_probe_arrival: {
    id: Id
    proof_id: string
    attempt_id: string
    port: number
    kind: 'counted' | 'foreign' | 'idle'
    reason: string | null
    ip_address: string
    client_port: number
    service_address: string
    arrived_at: Date
  }
  /** As which user of the operating system a person was first proven on a device. */
  sign_in_os_user: {
    device_id: string
    person_id: string
    uid: string
    user_name: string
    bound_at: Date
  }
  /** What somebody else must confirm before a sign-in goes on. */
  device_confirmation: {
    id: string
    attempt_id: string
    kind: 'registration' | 'sign_in'
    ways: ConfirmationWay[]
    person_id: string
    device_id: string
    code: string
    wrong_codes: Generated<number>
    status: Generated<'pending' | 'approved' | 'denied'>
    requested_at: Date
    expires_at: Date
    decided_at: Date | null
    decided_by: string | null
  }
  /** Requests of applications that were refused alike; null for client ids that nobody has. */
  sign_in_refused_request: {
    id: Id
    application_id: string | null
    endpoint: string
    code: string
    field: string
    given: string | null
    fingerprint: Buffer
    request_count: number
    first_at: Date
    last_at: Date
  }
}
