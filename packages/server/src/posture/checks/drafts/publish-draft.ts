/*
 * From a draft to a check that runs on devices. Owns that the check, its results and everything that
 * follows from them appear in one change.
 */
import type { Change } from '../../../changes/change.ts'
import { lockDeviceRows } from '../../devices/device-status-store.ts'
import { settleEveryDueStatus } from '../../devices/settle-due-statuses.ts'
import { AppError } from '../../../platform/app-error.ts'
import { applyCheckScope } from '../apply-check-scope.ts'
import { insertCheck, updateCheck } from '../catalogue-store.ts'
import { CHECK_PLATFORMS } from '../check-definition.ts'
import { lockCheckScope } from '../check-scope-store.ts'
import { getCheckConfiguration } from '../configuration/check-configuration-store.ts'
import { listDraftProblems, type CustomCheckDraft } from './draft-readiness.ts'
import { getDraftForUpdate, updateDraft } from './draft-store.ts'

/** How long a result of a custom check holds for a sign-in, unless it is configured otherwise. */
const SHELF_LIFE_SECONDS = 60 * 60

/**
 * Makes a check from a draft, or brings the check that was made from it up to date: then its revision
 * rises, so that answers to the old query no longer count. A new check only reports, until it is
 * configured; devices that it targets get a pending result. Publishing again without an edit does
 * nothing.
 *
 * @throws AppError `not_found`; `conflict` with one detail per problem of a draft that is not ready
 */
export async function publishDraft(change: Change, id: string): Promise<CustomCheckDraft> {
  const { tx, at } = change
  await lockCheckScope(tx)
  const draft = await getDraftForUpdate(tx, id)
  assertReady(draft)
  if (draft.customCheckId !== null && !draft.hasUnpublishedChanges) return draft
  await lockDeviceRows(tx)
  await settleEveryDueStatus(change)
  const check =
    draft.customCheckId === null
      ? await createCheck(change, draft)
      : await reviseCheck(change, draft, draft.customCheckId)
  const published = await updateDraft(tx, id, {
    customCheckId: check.id,
    publishedAt: at,
    hasUnpublishedChanges: false,
    problems: '[]',
    updatedAt: at,
  })
  change.recordAudit({
    action: 'custom_check_draft.published',
    target: { type: 'check', id: check.id },
    description: `published the custom check ${draft.name}, revision ${check.revision}`,
    before: { revision: check.previousRevision },
    after: { revision: check.revision, custom_check_draft_id: id, osquery_sql: draft.osquerySql },
  })
  await applyCheckScope(
    change,
    { checkIds: [check.id] },
    { initiatingEntity: 'admin', reason: `${draft.name} was published.` },
  )
  return published
}

interface PublishedCheck {
  readonly id: string
  readonly revision: number
  /** Null for a new check. */
  readonly previousRevision: number | null
}

async function createCheck(change: Change, draft: CustomCheckDraft): Promise<PublishedCheck> {
  const { id, revision } = await insertCheck(change.tx, {
    ...toDefinitionColumns(draft),
    slug: draft.slug,
    type: draft.checkType === 'osquery' ? 'custom' : 'external',
    targetType: draft.targetType,
    isBuiltIn: false,
    remediationStrategy: 'report_only',
    shelfLifeSeconds: SHELF_LIFE_SECONDS,
    createdAt: change.at,
    updatedAt: change.at,
  })
  return { id, revision, previousRevision: null }
}

async function reviseCheck(
  change: Change,
  draft: CustomCheckDraft,
  checkId: string,
): Promise<PublishedCheck> {
  const { check } = await getCheckConfiguration(change.tx, checkId, { isLocked: true })
  const revision = check.revision + 1
  await updateCheck(change.tx, checkId, {
    ...toDefinitionColumns(draft),
    revision,
    updatedAt: change.at,
  })
  return { id: checkId, revision, previousRevision: check.revision }
}

function toDefinitionColumns(draft: CustomCheckDraft) {
  const isExternal = draft.checkType === 'external'
  const platforms =
    isExternal && draft.platforms.length === 0 ? [...CHECK_PLATFORMS] : draft.platforms
  const queries = isExternal ? [] : platforms.map((platform) => [platform, draft.osquerySql])
  return {
    name: draft.name,
    description: draft.description,
    issueTitle: draft.issueTitle,
    platforms,
    queries: JSON.stringify(Object.fromEntries(queries)),
    primaryKeyColumn: draft.requiresPrimaryKey ? draft.primaryKeyColumn : null,
    rationaleTemplate: draft.rationaleTemplate,
    fixInstructionsTemplate: draft.fixInstructionsTemplate,
    privacyInfo: draft.privacyInfo,
  }
}

function assertReady(draft: CustomCheckDraft): void {
  const problems = listDraftProblems(draft)
  if (problems.length === 0) return
  const details = problems.map(({ field, message }) => ({ path: field, message }))
  const summary = details.map(({ path, message }) => `${path}: ${message}`).join(' ')
  throw new AppError('conflict', `The draft cannot be published. ${summary}`, {
    details,
  })
}
