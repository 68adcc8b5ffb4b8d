/*
 * What a check is before anyone configures it: its SQL, its texts and its defaults. Owns the shape of a
 * catalogue entry; knows no store and no configuration. A test holds every entry to the rules.
 */

/** The platforms that a check can have SQL for, in osquery's words. */
export const CHECK_PLATFORMS = ['darwin', 'windows', 'linux'] as const

export type CheckPlatform = (typeof CHECK_PLATFORMS)[number]

/** The severity tags that a new organisation has. */
export const CHECK_TAGS = ['Critical', 'Important', 'Info'] as const

export type CheckTag = (typeof CHECK_TAGS)[number]

/** What an open issue of a check does to its device. */
export const REMEDIATION_STRATEGIES = [
  'block_immediately',
  'warn_then_block',
  'notify_only',
  'report_only',
] as const

export type RemediationStrategy = (typeof REMEDIATION_STRATEGIES)[number]

/** The verdicts that a row may carry in `CHECK_STATUS_COLUMN`. */
export const CHECK_ROW_STATUSES = ['PASS', 'FAIL', 'UNKNOWN', 'INAPPLICABLE', 'ERROR'] as const

export type CheckRowStatus = (typeof CHECK_ROW_STATUSES)[number]

/** The column that carries a row's verdict. */
export const CHECK_STATUS_COLUMN = 'KOLIDE_CHECK_STATUS'

/** With what the slugs of custom checks begin, and those of built-in checks never do. */
export const CUSTOM_SLUG_PREFIX = 'custom-'

/**
 * A check that comes with the service.
 *
 * Each row of a query carries a verdict in `CHECK_STATUS_COLUMN` and columns that explain it. Without
 * `primaryKeyColumn` a query always answers exactly one row. With it, it answers one row per object
 * that is wrong, or a single other row with an empty primary key: an answer without rows counts as
 * errored, because osquery cannot tell it from a table that failed to load. That row is `INAPPLICABLE`
 * where there is no such object, and `UNKNOWN` where they could not be read.
 */
export interface CheckDefinition {
  /** Kebab-case and never changed: results, configurations and clients refer to it. */
  readonly slug: string
  /** Raised whenever the SQL of any platform changes; results of older revisions are ignored. */
  readonly revision: number
  readonly name: string
  readonly description: string
  readonly issueTitle: string
  readonly platforms: readonly CheckPlatform[]
  readonly topics: readonly string[]
  readonly tags: readonly CheckTag[]
  /** osquery SQL by platform, for exactly the platforms listed. */
  readonly queries: Readonly<Partial<Record<CheckPlatform, string>>>
  /** The column whose value tells the issues of one device apart; its name becomes `issue_key`. */
  readonly primaryKeyColumn?: string
  /** Why it matters, for the end user: Markdown with Liquid. */
  readonly rationaleTemplate: string
  /** What to do, step by step, for the end user: Markdown with Liquid. */
  readonly fixInstructionsTemplate: string
  /** What leaves the device, for the end user. */
  readonly privacyInfo: string
  readonly defaultStrategy: RemediationStrategy
  /** Days between the detection and the block; 0 unless the strategy is `warn_then_block`. */
  readonly graceDays: number
  /** Why the default strategy is what it is; for admins. */
  readonly strategyReason: string
  /** A result older than this is run again during a sign-in. */
  readonly authCheckRunShelfLifeSeconds: number
}
