/** A release of PostgreSQL: 18.6 has the major version 18. */
export interface PostgresVersion {
  readonly major: number
  readonly minor: number
}

/** The major version whose clusters the embedded database makes and runs. */
export const MAJOR_VERSION = 18

/** The newest release that was known when this program was made, and what it closed. */
export const KNOWN_RELEASE = {
  version: { major: MAJOR_VERSION, minor: 6 },
  releasedOn: '2026-08-13',
  securityFixes: 28,
} as const

/** What is known of a version: undefined when nothing newer was when this program was made. */
export function describeOutdated(version: PostgresVersion): string | undefined {
  const { version: known, releasedOn, securityFixes } = KNOWN_RELEASE
  if (version.major !== known.major || version.minor >= known.minor) return undefined
  return `PostgreSQL ${formatVersion(version)} is older than ${formatVersion(known)} of ${releasedOn}, which closed ${securityFixes} security faults; docs/operations.md says how to run a newer one`
}

/** The version as PostgreSQL writes it. */
export function formatVersion({ major, minor }: PostgresVersion): string {
  return `${major}.${minor}`
}

/** The first version in a text such as `postgres (PostgreSQL) 18.6 (Debian 18.6-1)`; undefined without one. */
export function parseVersion(text: string): PostgresVersion | undefined {
  const [, major, minor] = /\b(\d{1,3})\.(\d{1,3})\b/.exec(text) ?? []
  return major === undefined || minor === undefined
    ? undefined
    : { major: Number(major), minor: Number(minor) }
}
