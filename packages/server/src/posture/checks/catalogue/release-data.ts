/*
 * The releases of operating systems and browsers that the version checks compare with. Owns the form of the
 * file and when it is old; release-data.json is the file that comes with the service, and an installation may
 * bring a newer one. A newer release than the newest listed always passes.
 */
import { z } from 'zod'
import { AppError, type ErrorDetail } from '../../../platform/app-error.ts'
import { DAY_MS } from '../../../platform/clock.ts'
import { incidentsSchema } from './malicious-software.ts'
import builtIn from './release-data.json' with { type: 'json' }

/** A day in universal time, `YYYY-MM-DD`. */
const day = z.iso.date()
const number = z.int().min(0).max(1_000_000)
/** What becomes part of SQL as it stands, quoted. */
const word = z.string().regex(/^[a-z0-9._-]{1,40}$/, 'lower-case letters, digits, ".", "_" and "-"')
/** Numbers with dots; three of them are compared. */
const version = z.string().regex(/^\d{1,5}(\.\d{1,5}){0,2}$/, 'up to three numbers with dots')
const text = z.string().min(1).max(500)

/** Where a section was read, and on which day. */
const origin = { source: text, as_of: day }

function releasesOf<Release extends z.ZodType>(release: Release) {
  return z.strictObject({ ...origin, releases: z.array(release).min(1).max(200) })
}

const releaseDataSchema = z.strictObject({
  /** When the file was last gone through. */
  date: day,
  /** Releases that get security updates, each with its newest one and the last day on which it gets any. */
  macos: releasesOf(z.strictObject({ major: number, minor: number, patch: number, until: day })),
  /**
   * Builds with the lowest revision that counts as up to date, where one is known, and the last days of their
   * servicing: of Home and Pro, of Enterprise and Education, and of the long-term channels where there is one.
   */
  windows: releasesOf(
    z.strictObject({
      build: number,
      name: text,
      revision: number.optional(),
      home_until: day,
      enterprise_until: day,
      ltsc_until: day.optional(),
      iot_ltsc_until: day.optional(),
    }),
  ),
  /** Releases by `os_version.platform` and their last days of free security support. */
  linux: releasesOf(
    z.strictObject({
      platform: word,
      major: number,
      /** Only where a distribution has several releases with one major number. */
      minor: number.default(0),
      /** Only where releases have one before they have a number. */
      codename: word.optional(),
      until: day,
    }),
  ),
  /** The lowest major versions that pass. */
  browsers: z.strictObject({ ...origin, chrome: number, edge: number, firefox: number }),
  /**
   * The lowest versions of applications that pass. On Windows Office is told by its build: the lowest of
   * Microsoft 365, and those of the suites of a year with the last days of their updates.
   */
  applications: z.strictObject({
    ...origin,
    safari: version,
    xcode: version,
    office_mac: version,
    office_365_build: number,
    office_windows: z.array(z.strictObject({ year: number, build: number, until: day })).max(20),
  }),
  /** Releases that attackers published, up to the day of the section. */
  malicious_software: z.strictObject({ ...origin, incidents: incidentsSchema }),
})

/** The content of a file of release data. */
export type ReleaseData = z.infer<typeof releaseDataSchema>

/** The parts of a file, each read from its makers on a day of its own. */
export const RELEASE_SECTIONS = [
  'macos',
  'windows',
  'linux',
  'browsers',
  'applications',
  'malicious_software',
] as const
export type ReleaseSection = (typeof RELEASE_SECTIONS)[number]

/**
 * Checks release data as it was read from a file.
 *
 * @throws AppError `invalid_body` that names each problem by its place in the file
 */
export function parseReleaseData(value: unknown): ReleaseData {
  const parsed = releaseDataSchema.safeParse(value)
  if (!parsed.success) {
    throw toRefusal(
      parsed.error.issues.map(({ path, message }) => ({ path: toPlace(path), message })),
    )
  }
  const late = RELEASE_SECTIONS.filter((section) => parsed.data[section].as_of > parsed.data.date)
  if (late.length > 0) {
    const message = `Later than the date of the file, ${parsed.data.date}`
    throw toRefusal(late.map((section) => ({ path: `${section}.as_of`, message })))
  }
  return parsed.data
}

function toRefusal(details: readonly ErrorDetail[]): AppError {
  const lines = details.map(({ path, message }) => `  - ${path}: ${message}`)
  return new AppError('invalid_body', ['The release data is not valid:', ...lines].join('\n'), {
    details,
  })
}

function toPlace(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'the file'
  return path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`,
    )
    .join('')
}

/** The release data that comes with this version of the service. */
export const BUILT_IN_RELEASE_DATA: ReleaseData = parseReleaseData(builtIn)

/** Makers publish security updates every month: after this time a device may be two of them behind and pass. */
const FRESH_DAYS = 90

/** The last day on which a section counts as fresh, `YYYY-MM-DD`. */
function toFreshUntil({ as_of: asOf }: { readonly as_of: string }): string {
  return new Date(Date.parse(asOf) + FRESH_DAYS * DAY_MS).toISOString().slice(0, 10)
}

/** The sections that are no longer fresh. */
export function listStaleSections(data: ReleaseData, now: Date): ReleaseSection[] {
  const today = now.toISOString().slice(0, 10)
  return RELEASE_SECTIONS.filter((section) => today > toFreshUntil(data[section]))
}

/** SELECT of the day of the data that a check compares with, and whether it is old when the check runs. */
export function releaseDataSql(section: { readonly as_of: string }): string {
  return `SELECT 'as of ${section.as_of}' || CASE WHEN date('now') > '${toFreshUntil(section)}' THEN ', out of date' ELSE '' END`
}
