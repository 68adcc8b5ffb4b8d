import { sql, type Insertable, type Kysely, type Transaction, type Updateable } from 'kysely'
import { notFound } from '../../../platform/app-error.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { CustomCheckDraftTable } from '../../../schema/tables/check-tables.ts'
import type { CustomCheckDraft } from './draft-readiness.ts'
import { lockInTransaction } from '../../../platform/db/advisory-lock.ts'
import { LOCK_KEYS } from '../../../schema/lock-keys.ts'

/**
 * The draft with this id; `isLocked` holds it until the transaction ends. The id is a decimal number
 * within bigint.
 *
 * @throws AppError `not_found`
 */
export async function getDraft(
  db: Kysely<Schema>,
  id: string,
  options: { readonly isLocked?: boolean } = {},
): Promise<CustomCheckDraft> {
  return db
    .selectFrom('custom_check_draft')
    .selectAll()
    .where('id', '=', id)
    .$if(options.isLocked === true, (query) => query.forUpdate())
    .executeTakeFirstOrThrow(() => notFound('custom check draft', id))
}

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

export async function insertDraft(
  tx: Transaction<Schema>,
  values: Insertable<CustomCheckDraftTable>,
): Promise<CustomCheckDraft> {
  return tx.insertInto('custom_check_draft').values(values).returningAll().executeTakeFirstOrThrow()
}

export async function updateDraft(
  tx: Transaction<Schema>,
  id: string,
  values: Updateable<CustomCheckDraftTable>,
): Promise<CustomCheckDraft> {
  return tx
    .updateTable('custom_check_draft')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteDraftRow(tx: Transaction<Schema>, id: string): Promise<void> {
  await tx.deleteFrom('custom_check_draft').where('id', '=', id).execute()
}
