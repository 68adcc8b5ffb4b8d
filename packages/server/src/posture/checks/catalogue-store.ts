import type { Transaction } from 'kysely'
import type { NewRecord, RecordChanges, StoredRecord } from '../../schema/define-table.ts'
import { findRecord, listRecords } from '../../platform/db/record-table.ts'
import type { Schema } from '../../schema/schema.ts'
import { lockInTransaction } from '../../platform/db/advisory-lock.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'
import { rowsOf } from '../../schema/row-store.ts'

const checks = rowsOf('posture_check', 'check')

export type PostureCheck = StoredRecord<'posture_check'>

/** Lets one process at a time change which checks exist; held until the transaction ends. */
export async function lockCatalogue(tx: Transaction<Schema>): Promise<void> {
  await lockInTransaction(tx, LOCK_KEYS.checkCatalogue)
}

export async function listBuiltInChecks(tx: Transaction<Schema>): Promise<PostureCheck[]> {
  return listRecords(
    tx.selectFrom('posture_check').selectAll().where('is_built_in', '=', true).orderBy('id'),
  )
}

export async function findCheckBySlug(
  tx: Transaction<Schema>,
  slug: string,
): Promise<PostureCheck | undefined> {
  return findRecord(tx.selectFrom('posture_check').selectAll().where('slug', '=', slug))
}

export const insertCheck = checks.insert

export async function updateCheck(
  tx: Transaction<Schema>,
  id: string,
  values: RecordChanges<'posture_check'>,
): Promise<void> {
  await checks.update(tx, id, values)
}

/** Inserts the tags whose names do not exist yet, then answers the ids of all given ones by name. */
export async function ensureTags(
  tx: Transaction<Schema>,
  tags: readonly NewRecord<'check_tag'>[],
): Promise<Map<string, string>> {
  await tx
    .insertInto('check_tag')
    .values([...tags])
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const rows = await tx
    .selectFrom('check_tag')
    .select(['id', 'name'])
    .where(
      'name',
      'in',
      tags.map((tag) => tag.name),
    )
    .execute()
  return new Map(rows.map((row) => [row.name, row.id]))
}

export async function insertCheckTags(
  tx: Transaction<Schema>,
  checkId: string,
  tagIds: readonly string[],
): Promise<void> {
  if (tagIds.length === 0) return
  await tx
    .insertInto('posture_check_tag')
    .values(tagIds.map((tagId) => ({ check_id: checkId, tag_id: tagId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** The check with this id, kept from being changed until the transaction ends. To be locked before devices. */
export async function findCheckForShare(
  tx: Transaction<Schema>,
  id: string,
): Promise<PostureCheck | undefined> {
  return findRecord(tx.selectFrom('posture_check').selectAll().where('id', '=', id).forShare())
}
