/*
 * What the pages show of a sign-in under way, and what its person may do now. Read anew at each change of the
 * attempt; holds no secret, and nothing of another person.
 */
import type { Platform } from '../../schema/tables/device-tables.ts'
import type {
  Assurance,
  AttemptStage,
  BrandLogo,
  Fallback,
} from '../../schema/tables/sign-in-tables.ts'
import type { AuthState } from '../../schema/status-values.ts'
import type { RefusalCode } from './refusals.ts'

/** A sign-in as its pages show it. */
export interface AttemptView {
  readonly id: string
  readonly stage: AttemptStage
  /** Null for the pages of the person. */
  readonly applicationName: string | null
  readonly person?: { readonly name: string; readonly email: string } | undefined
  readonly device?: AttemptDevice | undefined
  readonly assurance?: Assurance | undefined
  /** Those that count for the status of the device, by their deadline, blocking ones first. */
  readonly issues: readonly AttemptIssue[]
  readonly choices: AttemptChoices
  /** What the ladder of fallbacks asks for; only in the stage `fallback`. */
  readonly fallback?: { readonly ladder: readonly Fallback[]; readonly state: object } | undefined
  /** What the registration of the device waits for; only in the stage `registration`. */
  readonly registration?: { readonly state: object } | undefined
  readonly refusal?: AttemptRefusal | undefined
  readonly expiresAt: Date
  /** Grows by one with each change. */
  readonly revision: number
  readonly language: string
  readonly brand: Brand
}

/** The device that the person is taken to sit at. */
export interface AttemptDevice {
  readonly id: string
  readonly name: string
  readonly platform: Platform
  /** By what it is known. */
  readonly howKnown: Assurance
  readonly seenAt: Date | null
  readonly authState: AuthState
  readonly willBlockAt: Date | null
  /** Whether it is registered to the person. */
  readonly isOwn: boolean
  /** When the registration of it to the person ended, if that was the last one of the device to end. */
  readonly ownUntil: Date | null
}

/** An open issue of the device, or of the person. */
export interface AttemptIssue {
  readonly id: string
  readonly checkId: string
  readonly title: string
  /** Why it matters: Markdown; null where the check does not say. */
  readonly rationale: string | null
  /** By which a built-in check says in words what it found. */
  readonly checkSlug: string
  /** The rows that failed, secrets masked, without empty values. */
  readonly rows: readonly Readonly<Record<string, string>>[]
  /** What to do on this operating system: Markdown; null where the check does not say. */
  readonly steps: string | null
  readonly blocksAt: Date | null
  readonly isBlocking: boolean
  readonly recheck: 'idle' | 'asking' | 'passing' | 'failing'
  readonly lastCheckedAt: Date | null
  /** For how many days it may be put off; none where it may not. */
  readonly snoozeDays: readonly number[]
  /** Until when it is put off; null where it is not. */
  readonly snoozedUntil: Date | null
  readonly isExemptionAllowed: boolean
  /** Null without a request. */
  readonly exemption: 'open' | 'approved' | 'denied' | null
  /** When an exemption ends; null for one without an end, and without one. */
  readonly exemptedUntil: Date | null
  /** Why the reader's own request was denied, as an admin wrote it; null where nobody did. */
  readonly exemptionDenial: string | null
  /** The reader's own request that nobody has decided yet. */
  readonly withdrawableRequestId: string | null
}

/** What the person may do now. */
export interface AttemptChoices {
  readonly mayContinue: boolean
  readonly mayRecheck: boolean
  readonly mayRequestExemption: boolean
  /** To whoever the device is registered, alone: others would not be reminded. */
  readonly maySnooze: boolean
  readonly maySayNotMyDevice: boolean
  readonly mayCancel: boolean
}

/** Why somebody was not let in. */
export interface AttemptRefusal {
  readonly code: RefusalCode
  /** A sentence for the person. */
  readonly message: string
  /** What whoever decided wrote to the person; null where nobody did. */
  readonly note: string | null
  /** What an admin does about it. */
  readonly remedy: string
}

/** How the pages present themselves. */
export interface Brand {
  readonly name: string
  readonly logo: BrandLogo | null
  /** `#rrggbb`; null for the usual one. */
  readonly colour: string | null
}
