/*
 * Software that is known to be malicious or was for a while: releases that attackers published in the name of
 * others. Owns the form of the list; malicious-software.json is the list, of the day that it names. Each entry
 * comes from a public report of its incident.
 */
import { z } from 'zod'
import data from './malicious-software.json' with { type: 'json' }
import { quoteListSql } from './verdict-sql.ts'

/** The malicious versions by name. */
const versionsByName = z.record(z.string().min(1), z.array(z.string().min(1)).min(1))

const maliciousSoftwareSchema = z.strictObject({
  /** The day up to which incidents were looked at, `YYYY-MM-DD`. */
  as_of: z.iso.date(),
  incidents: z.array(
    z.strictObject({
      name: z.string(),
      /** A public report. */
      source: z.url(),
      /** By identifier in the Chrome Web Store and Edge Add-ons. */
      browser_extensions: versionsByName.optional(),
      /** Extensions of Visual Studio Code and editors of its kind, `publisher.name` in lower case. */
      editor_extensions: versionsByName.optional(),
      npm: versionsByName.optional(),
      pypi: versionsByName.optional(),
    }),
  ),
})

type Incident = z.infer<typeof maliciousSoftwareSchema>['incidents'][number]

/** The list that comes with the service. */
export const MALICIOUS_SOFTWARE = maliciousSoftwareSchema.parse(data)

/** The rows of a common table expression: kind, name, version, and the incident that they belong to. */
export function maliciousRowsSql(
  ...kinds: readonly Exclude<keyof Incident, 'name' | 'source'>[]
): string {
  const rows = MALICIOUS_SOFTWARE.incidents.flatMap((incident) =>
    kinds.flatMap((kind) =>
      Object.entries(incident[kind] ?? {}).flatMap(([name, versions]) =>
        versions.map((version) => `(${quoteListSql([kind, name, version, incident.name])})`),
      ),
    ),
  )
  return `VALUES ${rows.join(', ')}`
}
