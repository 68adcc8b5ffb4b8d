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
  if (draft.custom_check_id !== null && !draft.has_unpublished_changes) return draft
  await lockDeviceRows(tx)
  await settleEveryDueStatus(change)
  const check =
    draft.custom_check_id === null
      ? await createCheck(change, draft)
      : await reviseCheck(change, draft, draft.custom_check_id)
  const published = await updateDraft(tx, id, {
    custom_check_id: check.id,
    published_at: at,
    has_unpublished_changes: false,
    problems: '[]',
    updated_at: at,
  })
  change.recordAudit({
    action: 'custom_check_draft.published',
    target: { type: 'check', id: check.id },
    description: `published the custom check ${draft.name}, revision ${check.revision}`,
    before: { revision: check.previousRevision },
    after: { revision: check.revision, custom_check_draft_id: id, osquery_sql: draft.osquery_sql },
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
    type: draft.check_type === 'osquery' ? 'custom' : 'external',
    target_type: draft.target_type,
    is_built_in: false,
    remediation_strategy: 'report_only',
    shelf_life_seconds: SHELF_LIFE_SECONDS,
    created_at: change.at,
    updated_at: change.at,
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
    updated_at: change.at,
  })
  return { id: checkId, revision, previousRevision: check.revision }
}

function toDefinitionColumns(draft: CustomCheckDraft) {
  const isExternal = draft.check_type === 'external'
  const platforms =
    isExternal && draft.platforms.length === 0 ? [...CHECK_PLATFORMS] : draft.platforms
  const queries = isExternal ? [] : platforms.map((platform) => [platform, draft.osquery_sql])
  return {
    name: draft.name,
    description: draft.description,
    issue_title: draft.issue_title,
    platforms,
    queries: JSON.stringify(Object.fromEntries(queries)),
    primary_key_column: draft.requires_primary_key ? draft.primary_key_column : null,
    rationale_template: draft.rationale_template,
    fix_instructions_template: draft.fix_instructions_template,
    privacy_info: draft.privacy_info,
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
