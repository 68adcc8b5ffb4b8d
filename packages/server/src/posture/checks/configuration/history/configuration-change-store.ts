/*
 * The changes of the configurations of checks. SQL only.
 */
import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import { findRecord } from '../../../../platform/db/record-table.ts'
import type { JsonObject } from '../../../../changes/audit/audit-entry.ts'
import type { Change } from '../../../../changes/change.ts'
import { RecordList, type RowOf } from '../../../../platform/search/record-list.ts'
import type { Schema } from '../../../../schema/schema.ts'

/** What changed of a configuration, by the names of the API. */
export interface NewConfigurationChange {
  readonly checkId: string
  /** That the change leads to. */
  readonly revision: number
  readonly before: JsonObject
  readonly after: JsonObject
  readonly undoesRevision: number | null
}

/** Keeps a change of a configuration. */
export async function insertConfigurationChange(
  { tx, at, txn, origin }: Change,
  { checkId, revision, before, after, undoesRevision }: NewConfigurationChange,
): Promise<void> {
  await tx
    .insertInto('check_configuration_change')
    .values({
      check_id: checkId,
      revision,
      changed_at: at,
      actor_type: origin.actor.type,
      actor_id: origin.actor.id,
      actor_name: origin.actor.name,
      before: JSON.stringify(before),
      after: JSON.stringify(after),
      undoes_revision: undoesRevision,
      txn,
    })
    .execute()
}

/** Changes of the configurations of checks. */
export const CONFIGURATION_CHANGE_LIST = new RecordList({
  noun: 'change of a configuration',
  table: 'check_configuration_change',
  fields: {},
  select: (db: Kysely<Schema>) =>
    db
      .selectFrom('check_configuration_change')
      .innerJoin('posture_check', 'posture_check.id', 'check_configuration_change.check_id')
      .selectAll('check_configuration_change')
      .select('posture_check.configuration_revision as present_revision'),
})

/** A change of a configuration, with the revision that the check has at present. */
export type ConfigurationChange = RowOf<typeof CONFIGURATION_CHANGE_LIST>

/** That a change is of a check, as a condition on changes. */
export function isChangeOf(checkId: string): Expression<SqlBool> {
  return sql<SqlBool>`check_configuration_change.check_id = ${checkId}`
}

/** The change that led to the present configuration of a check; undefined where none is kept. */
export async function findLastConfigurationChange(
  db: Kysely<Schema>,
  checkId: string,
): Promise<ConfigurationChange | undefined> {
  return findRecord(
    db
      .selectFrom('check_configuration_change')
      .innerJoin('posture_check', 'posture_check.id', 'check_configuration_change.check_id')
      .selectAll('check_configuration_change')
      .select('posture_check.configuration_revision as present_revision')
      .where('check_id', '=', checkId)
      .whereRef('check_configuration_change.revision', '=', 'posture_check.configuration_revision'),
  )
}
