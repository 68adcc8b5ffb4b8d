import type { Change } from '../../changes/change.ts'
import { applyCheckScope } from './apply-check-scope.ts'
import {
  ensureTags,
  insertCheck,
  insertCheckTags,
  listBuiltInChecks,
  lockCatalogue,
  updateCheck,
  type PostureCheck,
} from './catalogue-store.ts'
import type { CheckDefinition } from './check-definition.ts'
import { lockCheckScope } from './check-scope-store.ts'

/** What the synchronisation did, by slug. */
export interface CatalogueChanges {
  readonly added: readonly string[]
  readonly updated: readonly string[]
  readonly retired: readonly string[]
}

/** The severity tags of a new organisation. */
const DEFAULT_TAGS = [
  {
    name: 'Critical',
    description: 'An attacker can use it directly.',
    color: 'rgba(200, 30, 30, 1)',
  },
  {
    name: 'Important',
    description: 'It weakens the device noticeably.',
    color: 'rgba(214, 126, 0, 1)',
  },
  { name: 'Info', description: 'Worth knowing, seldom urgent.', color: 'rgba(30, 100, 200, 1)' },
]

/** Who paused a check that is no longer part of the catalogue; such a pause ends when it returns. */
const RETIRED_BY = 'Heliograph catalogue'

/**
 * Brings the built-in checks of the database in line with the catalogue of this release: adds new
 * ones, which in a new database have their default strategy and after an upgrade only report, until an
 * admin decides, so that no upgrade notifies or blocks anybody; updates texts and queries of the others and keeps what
 * admins configured. Changed queries raise the revision. A check that left the catalogue is paused; its history stays.
 * Devices get pending results for new checks. Idempotent; safe with several processes.
 */
export async function syncCatalogue(
  change: Change,
  catalogue: readonly CheckDefinition[],
): Promise<CatalogueChanges> {
  const { tx } = change
  await lockCatalogue(tx)
  // In the order of every change of checks: the scope before the checks, these before the devices.
  await lockCheckScope(tx)
  const tagIds = await ensureTags(tx, DEFAULT_TAGS)
  const stored = new Map((await listBuiltInChecks(tx)).map((check) => [check.slug, check]))
  const isUpgrade = stored.size > 0
  const added: string[] = []
  const updated: string[] = []
  const touchedIds: string[] = []
  for (const definition of catalogue) {
    const check = stored.get(definition.slug)
    stored.delete(definition.slug)
    if (check === undefined) {
      const initial = isUpgrade ? toReporting(definition) : definition
      touchedIds.push(await addCheck(change, initial, tagIds))
      added.push(definition.slug)
    } else if (!isSame(check, definition)) {
      await updateCheck(tx, check.id, {
        ...toDefinitionColumns(definition),
        ...toRevision(check, definition),
        ...(check.pausedBy === RETIRED_BY ? { pausedAt: null, pausedBy: null } : {}),
        updatedAt: change.at,
      })
      touchedIds.push(check.id)
      updated.push(definition.slug)
    }
  }
  const retired = [...stored.values()].filter((check) => check.pausedAt === null)
  for (const check of retired) {
    const values = { pausedAt: change.at, pausedBy: RETIRED_BY, updatedAt: change.at }
    await updateCheck(tx, check.id, values)
    touchedIds.push(check.id)
  }
  const changes = { added, updated, retired: retired.map((check) => check.slug) }
  if (touchedIds.length > 0) {
    await applyCheckScope(
      change,
      { checkIds: touchedIds },
      { initiatingEntity: 'system', reason: 'The catalogue of checks changed.' },
    )
    recordChanges(change, changes)
  }
  return changes
}

function toReporting(definition: CheckDefinition): CheckDefinition {
  return { ...definition, defaultStrategy: 'report_only', graceDays: 0 }
}

async function addCheck(
  change: Change,
  definition: CheckDefinition,
  tagIds: ReadonlyMap<string, string>,
): Promise<string> {
  const check = await insertCheck(change.tx, {
    slug: definition.slug,
    type: 'osquery',
    isBuiltIn: true,
    ...toDefinitionColumns(definition),
    revision: definition.revision,
    remediationStrategy: definition.defaultStrategy,
    gracePeriodDays: definition.graceDays,
    shelfLifeSeconds: definition.authCheckRunShelfLifeSeconds,
    createdAt: change.at,
    updatedAt: change.at,
  })
  const ids = definition.tags.flatMap((tag) => tagIds.get(tag) ?? [])
  await insertCheckTags(change.tx, check.id, ids)
  return check.id
}

function toDefinitionColumns(definition: CheckDefinition) {
  return {
    name: definition.name,
    description: definition.description,
    issueTitle: definition.issueTitle,
    platforms: [...definition.platforms],
    topics: [...definition.topics],
    queries: toQueriesJson(definition.queries),
    primaryKeyColumn: definition.primaryKeyColumn ?? null,
    rationaleTemplate: definition.rationaleTemplate,
    fixInstructionsTemplate: definition.fixInstructionsTemplate,
    privacyInfo: definition.privacyInfo,
  }
}

/** Sorted names, so that equal queries have equal texts. */
function toQueriesJson(queries: PostureCheck['queries']): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(queries).sort(([a], [b]) => (a < b ? -1 : 1))),
  )
}

function isSame(check: PostureCheck, definition: CheckDefinition): boolean {
  if (check.pausedBy === RETIRED_BY) return false
  const wanted = toDefinitionColumns(definition)
  const present = {
    name: check.name,
    description: check.description,
    issueTitle: check.issueTitle,
    platforms: check.platforms,
    topics: check.topics,
    queries: toQueriesJson(check.queries),
    primaryKeyColumn: check.primaryKeyColumn,
    rationaleTemplate: check.rationaleTemplate,
    fixInstructionsTemplate: check.fixInstructionsTemplate,
    privacyInfo: check.privacyInfo,
  }
  return JSON.stringify(present) === JSON.stringify(wanted) && check.revision >= definition.revision
}

/** The revision follows the catalogue, but always rises when what devices run or report changes. */
function toRevision(check: PostureCheck, definition: CheckDefinition): { revision: number } {
  const hasOtherSql =
    toQueriesJson(check.queries) !== toQueriesJson(definition.queries) ||
    check.primaryKeyColumn !== (definition.primaryKeyColumn ?? null)
  const least = hasOtherSql ? check.revision + 1 : check.revision
  return { revision: Math.max(least, definition.revision) }
}

function recordChanges(change: Change, changes: CatalogueChanges): void {
  const { added, updated, retired } = changes
  change.recordAudit({
    action: 'check_catalogue.synchronised',
    target: null,
    description: `brought the built-in checks up to date: ${added.length} added, ${updated.length} updated, ${retired.length} retired`,
    after: { added: [...added], updated: [...updated], retired: [...retired] },
  })
}
