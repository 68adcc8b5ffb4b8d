/*
 * Creating, changing and deleting the drafts of custom checks. Owns slugs and limits; nothing here
 * touches a check: that is publish-draft.ts.
 */
import type { Transaction } from 'kysely'
import type { JsonObject } from '../../../changes/audit/audit-entry.ts'
import type { Change } from '../../../changes/change.ts'
import { changedMembers } from '../../../changes/changed-members.ts'
import { toRow } from '../../../platform/db/record-table.ts'
import { AppError, conflict } from '../../../platform/app-error.ts'
import { givenMembers } from '../../../platform/given-members.ts'
import type { Schema } from '../../../schema/schema.ts'
import { toCustomSlug, type DraftChanges, type NewDraft } from './draft-input.ts'
import {
  contentOf,
  EMPTY_DRAFT,
  listDraftProblems,
  type CustomCheckDraft,
  type DraftContent,
} from './draft-readiness.ts'
import {
  countDrafts,
  deleteDraftRow,
  getDraftForUpdate,
  insertDraft,
  listTakenSlugs,
  lockDrafts,
  updateDraft,
} from './draft-store.ts'
import { auditedAs } from '../../../changes/audited-record.ts'

const audit = auditedAs('custom_check_draft', 'custom check draft')

/** How many drafts there may be at once. */
export const DRAFTS_MAX = 500

/**
 * Creates a draft; what is left out is empty.
 *
 * @throws AppError `conflict` for a slug that is taken, `limit_reached`
 */
export async function createDraft(change: Change, input: NewDraft): Promise<CustomCheckDraft> {
  const { tx, at } = change
  await lockDrafts(tx)
  if ((await countDrafts(tx)) >= DRAFTS_MAX) {
    const message = `There are ${DRAFTS_MAX} drafts, as many as there may be; delete some first.`
    throw new AppError('limit_reached', message)
  }
  const slug = input.slug ?? (await findFreeSlug(tx, toCustomSlug(input.name)))
  await assertSlugIsFree(tx, slug, { draftId: '0', checkId: null })
  const content: DraftContent = {
    ...EMPTY_DRAFT,
    ...givenMembers(input),
    name: input.name,
    slug,
  }
  const draft = await insertDraft(tx, {
    ...toColumns(content),
    customCheckId: null,
    publishedAt: null,
    createdAt: at,
    updatedAt: at,
  })
  audit.created(change, draft, toAudit(content))
  return draft
}

/**
 * Changes what is given of a draft. The check that was made from it stays as it is until the draft is
 * published again. A change of nothing does nothing.
 *
 * @throws AppError `not_found`; `conflict` for a slug that is taken, and for what is fixed once
 * published
 */
export async function changeDraft(
  change: Change,
  id: string,
  input: DraftChanges,
): Promise<CustomCheckDraft> {
  const { tx, at } = change
  await lockDrafts(tx)
  const before = await getDraftForUpdate(tx, id)
  const wanted: CustomCheckDraft = { ...before, ...givenMembers(input) }
  const changed = changedMembers(toAudit(before), toAudit(wanted))
  if (changed.names.length === 0) return before
  assertNotFixed(before, changed.names)
  await assertSlugIsFree(tx, wanted.slug, { draftId: id, checkId: before.customCheckId })
  const draft = await updateDraft(tx, id, {
    ...toColumns(wanted),
    hasUnpublishedChanges: before.publishedAt !== null,
    updatedAt: at,
  })
  const name = `${draft.name}: ${changed.names.join(', ')}`
  audit.updated(change, { id, name }, changed.before, changed.after)
  return draft
}

/**
 * Deletes a draft and answers what it was. The check that was made from it stays.
 *
 * @throws AppError `not_found`
 */
export async function deleteDraft(change: Change, id: string): Promise<CustomCheckDraft> {
  const draft = await getDraftForUpdate(change.tx, id)
  await deleteDraftRow(change.tx, id)
  audit.deleted(change, draft, { ...toAudit(draft), custom_check_id: draft.customCheckId })
  return draft
}

function toColumns(content: DraftContent) {
  return {
    ...contentOf(content),
    templateDataExamples: JSON.stringify(content.templateDataExamples),
    privacyCenterExampleData: JSON.stringify(content.privacyCenterExampleData),
    problems: JSON.stringify(listDraftProblems(content)),
  }
}

/** What audit entries keep of a draft. */
function toAudit(draft: DraftContent): JsonObject {
  return toRow(contentOf(draft)) as JsonObject
}

/** Results, configurations and clients refer to them. */
const FIXED_ONCE_PUBLISHED = ['slug', 'check_type', 'target_type']

function assertNotFixed(before: CustomCheckDraft, changed: readonly string[]): void {
  if (before.customCheckId === null) return
  const fixed = changed.filter((name) => FIXED_ONCE_PUBLISHED.includes(name))
  if (fixed.length === 0) return
  throw conflict(`The draft is published: ${fixed.join(', ')} cannot change any more.`)
}

async function assertSlugIsFree(
  tx: Transaction<Schema>,
  slug: string,
  except: { readonly draftId: string; readonly checkId: string | null },
): Promise<void> {
  const taken = await listTakenSlugs(tx, slug, except)
  if (!taken.has(slug)) return
  throw conflict(`The slug ${slug} is taken.`)
}

async function findFreeSlug(tx: Transaction<Schema>, slug: string): Promise<string> {
  const taken = await listTakenSlugs(tx, slug, { draftId: '0', checkId: null })
  if (!taken.has(slug)) return slug
  let number = 2
  while (taken.has(`${slug}-${number}`)) number += 1
  return `${slug}-${number}`
}
