/*
 * Software that is known to be malicious or was for a while: releases that attackers published in the name of
 * others. Owns the form of the list, which is a part of the release data, and how queries compare with it. Each
 * entry comes from a public report of its incident.
 */
import { z } from 'zod'
import { quoteListSql, quoteSql } from './verdict-sql.ts'

/** Together they are part of queries, which devices get as one text. */
const RELEASES_MAX = 1_000

const name = z.string().regex(/^[A-Za-z0-9@][A-Za-z0-9@/._-]{0,200}$/, 'a name of a registry')
const version = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.+-]{0,60}$/, 'a version')
const versionsByName = z.record(name, z.array(version).min(1).max(200))

const incidentSchema = z.strictObject({
  name: z.string().min(1).max(100),
  /** A public report. */
  source: z.url().max(500),
  /** Versions by identifier in the Chrome Web Store and Edge Add-ons. */
  browser_extensions: versionsByName.optional(),
  /** Versions of extensions of Visual Studio Code and editors of its kind, by `publisher.name` in lower case. */
  editor_extensions: versionsByName.optional(),
  npm: versionsByName.optional(),
  pypi: versionsByName.optional(),
})

/** What was attacked, when it is known, and the releases that attackers published. */
export type Incident = z.infer<typeof incidentSchema>

const KINDS = ['browser_extensions', 'editor_extensions', 'npm', 'pypi'] as const

/** Where software comes from. */
export type MaliciousSoftwareKind = (typeof KINDS)[number]

export const incidentsSchema = z
  .array(incidentSchema)
  .min(1)
  .refine((incidents) => listMaliciousReleases(incidents, KINDS).length <= RELEASES_MAX, {
    error: `At most ${RELEASES_MAX} releases`,
  })

/** A release that attackers published, and the name of its incident. */
export interface MaliciousRelease {
  readonly kind: MaliciousSoftwareKind
  readonly name: string
  readonly version: string
  readonly incident: string
}

export function listMaliciousReleases(
  incidents: readonly Incident[],
  kinds: readonly MaliciousSoftwareKind[],
): MaliciousRelease[] {
  return incidents.flatMap((incident) =>
    kinds.flatMap((kind) =>
      Object.entries(incident[kind] ?? {}).flatMap(([name, versions]) =>
        versions.map((version) => ({ kind, name, version, incident: incident.name })),
      ),
    ),
  )
}

const KIND_NAMES: Readonly<Record<MaliciousSoftwareKind, string>> = {
  browser_extensions: 'browser',
  editor_extensions: 'editor',
  npm: 'npm',
  pypi: 'pypi',
}

/**
 * Common table expressions of which `malicious` is the last: kind (`browser`, `editor`, `npm`, `pypi`), name, version
 * and incident of the malicious releases of some kinds. Incidents stand in it once, for the query travels to
 * every device.
 */
export function maliciousTablesSql(
  incidents: readonly Incident[],
  kinds: readonly MaliciousSoftwareKind[],
): string {
  const releases = listMaliciousReleases(incidents, kinds)
  const names = [...new Set(releases.map(({ incident }) => incident))]
  const releaseRows = releases.map(
    ({ kind, name, version, incident }) =>
      `(${quoteListSql([KIND_NAMES[kind], name, version])}, ${names.indexOf(incident)})`,
  )
  const incidentRows = names.map((incident, index) => `(${index}, ${quoteSql(incident)})`)
  return `incidents(id, incident) AS (${valuesSql(incidentRows, 2)}),
releases(kind, name, version, id) AS (${valuesSql(releaseRows, 4)}),
malicious(kind, name, version, incident) AS (SELECT kind, name, version, incident FROM releases JOIN incidents USING (id))`
}

/** VALUES of SQL takes at least one row. */
function valuesSql(rows: readonly string[], columnCount: number): string {
  if (rows.length > 0) return `VALUES ${rows.join(', ')}`
  return `SELECT ${Array.from({ length: columnCount }, () => 'NULL').join(', ')} WHERE 0`
}
