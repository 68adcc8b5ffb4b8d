import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { renderCatalogueMarkdown } from '../generate/catalogue-markdown.ts'
import { CHECK_CATALOGUE } from '../src/posture/checks/catalogue/index.ts'
import { validateCheckDefinition } from './support/validate-check-definition.ts'
import { renderTemplate } from '../src/posture/checks/render-template.ts'
import fingerprints from './support/catalogue-fingerprints.json' with { type: 'json' }
import { openOsqueryDatabase } from './support/osquery-database.ts'

const checksByPlatform = CHECK_CATALOGUE.flatMap((check) =>
  check.platforms.map((platform) => ({
    check,
    platform,
    slug: check.slug,
    sql: check.queries[platform]!,
  })),
)

/** Checks of what is absent unless somebody made it: nothing there says all. */
const ABSENCE_DECIDES: Readonly<Record<string, readonly string[]>> = {
  'autorun-disabled': ['FAIL'],
  'mandatory-access-control': ['FAIL'],
  'powershell-execution-policy': ['PASS'],
  'restart-not-pending': ['PASS'],
}

describe('the catalogue', () => {
  it('holds checks with different slugs and names', () => {
    expect(new Set(CHECK_CATALOGUE.map((check) => check.slug)).size).toBe(CHECK_CATALOGUE.length)
    expect(new Set(CHECK_CATALOGUE.map((check) => check.name)).size).toBe(CHECK_CATALOGUE.length)
    expect(CHECK_CATALOGUE.length).toBeGreaterThanOrEqual(28)
  })

  it.each(CHECK_CATALOGUE)('keeps every rule of a definition: $slug', (check) => {
    expect(validateCheckDefinition(check)).toEqual([])
  })

  it.each(checksByPlatform)(
    'neither passes nor fails on tables that answer nothing: $slug on $platform',
    ({ check, sql }) => {
      using database = openOsqueryDatabase()
      const rows = database.prepare(sql).all()
      expect(rows).toHaveLength(1)
      expect(rows[0]?.['KOLIDE_CHECK_STATUS']).toBeOneOf([
        'UNKNOWN',
        'INAPPLICABLE',
        ...(ABSENCE_DECIDES[check.slug] ?? []),
      ])
      if (check.primaryKeyColumn !== undefined) {
        expect(rows[0]).toMatchObject({ [check.primaryKeyColumn]: '' })
      }
      expect(Object.keys(rows[0]!).length).toBeGreaterThan(1)
    },
  )

  it.each(checksByPlatform)(
    'has texts that render with what the query answers: $slug on $platform',
    ({ check, platform, sql }) => {
      using database = openOsqueryDatabase()
      const columns = Object.keys(database.prepare(sql).all()[0]!)
      const variables = {
        device: { name: 'Lovelace', platform },
        issue: { value: Object.fromEntries(columns.map((column) => [column, `x-${column}`])) },
        check: { name: check.name },
        organisation: { name: 'Example Ltd' },
      }
      expect(renderTemplate(check.rationaleTemplate, variables).trim()).not.toBe('')
      expect(renderTemplate(check.fixInstructionsTemplate, variables).trim()).not.toBe('')
      const read = [
        ...`${check.rationaleTemplate}${check.fixInstructionsTemplate}`.matchAll(
          /issue\.value\.(\w+)/g,
        ),
      ]
      const columnsOfAllPlatforms = new Set(
        Object.values(check.queries).flatMap((query) =>
          Object.keys(database.prepare(query).all()[0]!),
        ),
      )
      for (const [, column] of read) expect(columnsOfAllPlatforms).toContain(column)
    },
  )

  it('raises the revision of a check whenever its SQL changes', () => {
    const recorded: Record<string, { revision: number; sha256: string }> = fingerprints
    for (const check of CHECK_CATALOGUE) {
      const entry = recorded[check.slug]
      const sha256 = createHash('sha256').update(JSON.stringify(check.queries)).digest('hex')
      const advice = `${check.slug}: raise the revision when the SQL changes, then record {"revision": ${check.revision}, "sha256": "${sha256}"} in catalogue-fingerprints.json`
      expect({ revision: check.revision, sha256 }, advice).toEqual(entry)
    }
  })

  it('never loses a check that was published', () => {
    const slugs = CHECK_CATALOGUE.map((check) => check.slug)
    expect(Object.keys(fingerprints).filter((slug) => !slugs.includes(slug))).toEqual([])
  })

  it('is what docs/checks.md says; `vitest -u` writes the document anew', async () => {
    await expect(renderCatalogueMarkdown()).toMatchFileSnapshot('../../../docs/checks.md')
  })
})
