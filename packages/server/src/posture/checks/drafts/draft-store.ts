import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import { lockInTransaction } from '../../../platform/db/advisory-lock.ts'
import { LOCK_KEYS } from '../../../schema/lock-keys.ts'
import { rowsOf } from '../../../schema/row-store.ts'

const drafts = rowsOf('custom_check_draft', 'custom check draft')

/**
 * The draft, locked until the transaction ends.
 *
 * @throws AppError `not_found`
 */
export const getDraftForUpdate = drafts.getForUpdate

/** Lets one change at a time give out slugs and places among the drafts; held until it ends. */
export async function lockDrafts(tx: Transaction<Schema>): Promise<void> {
  await lockInTransaction(tx, LOCK_KEYS.checkDrafts)
}

export async function countDrafts(tx: Transaction<Schema>): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    select count(*) as count from custom_check_draft`.execute(tx)
  return Number(rows[0]?.count)
}

/**
 * The slugs of drafts and checks that are `slug` or begin with it and a hyphen, but not those of the
 * draft and the check that are named.
 */
export async function listTakenSlugs(
  tx: Transaction<Schema>,
  slug: string,
  except: { readonly draftId: string; readonly checkId: string | null },
): Promise<Set<string>> {
  const { rows } = await sql<{ slug: string }>`
    select slug from custom_check_draft
    where (slug = ${slug} or starts_with(slug, ${`${slug}-`})) and id <> ${except.draftId}
    union all
    select slug from posture_check
    where (slug = ${slug} or starts_with(slug, ${`${slug}-`}))
      and id is distinct from ${except.checkId}::bigint
  `.execute(tx)
  return new Set(rows.map((row) => row.slug))
}

export const insertDraft = drafts.insert

export const updateDraft = drafts.update

export const deleteDraftRow = drafts.remove
