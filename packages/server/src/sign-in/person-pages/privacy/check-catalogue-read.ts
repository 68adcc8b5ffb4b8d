import { sql, type Kysely } from 'kysely'
import { notFound } from '../../../platform/app-error.ts'
import { isId } from '../../../platform/ids.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { RemediationStrategy } from '../../../schema/status-values.ts'

/** A check as whoever is asked by it may know it. */
export interface CataloguedCheck {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly type: 'osquery' | 'custom' | 'external'
  readonly isBuiltIn: boolean
  readonly isAboutPeople: boolean
  /** osquery SQL by platform, in osquery's words. */
  readonly queries: Readonly<Record<string, string>>
  readonly privacyInfo: string
  /** Why it matters: Markdown with Liquid, of an admin where one has written it. */
  readonly rationaleTemplate: string
  readonly isRationaleCustom: boolean
  readonly strategy: RemediationStrategy
  /** What an answer may look like, by platform or for all, as whoever wrote the check says. */
  readonly exampleData: unknown
}

/** The checks that run, by name. */
export async function listCataloguedChecks(db: Kysely<Schema>): Promise<CataloguedCheck[]> {
  return selectChecks(db)
    .where('c.paused_at', 'is', null)
    .orderBy('c.name')
    .orderBy('c.id')
    .execute()
}

/**
 * A check, also one that is paused: its last answers are still kept.
 *
 * @throws AppError `not_found`
 */
export async function getCataloguedCheck(db: Kysely<Schema>, id: string): Promise<CataloguedCheck> {
  const check = isId(id)
    ? await selectChecks(db).where('c.id', '=', id).executeTakeFirst()
    : undefined
  if (check === undefined) throw notFound('check', id)
  return check
}

function selectChecks(db: Kysely<Schema>) {
  return db.selectFrom('posture_check as c').select([
    'c.id',
    'c.slug',
    'c.name',
    'c.description',
    'c.type',
    'c.is_built_in as isBuiltIn',
    sql<boolean>`c.target_type = 'people'`.as('isAboutPeople'),
    sql<Record<string, string>>`c.queries`.as('queries'),
    'c.privacy_info as privacyInfo',
    sql<string>`coalesce(c.custom_rationale_template, c.rationale_template)`.as(
      'rationaleTemplate',
    ),
    sql<boolean>`c.custom_rationale_template is not null`.as('isRationaleCustom'),
    'c.remediation_strategy as strategy',
    sql<unknown>`(select d.privacy_center_example_data from custom_check_draft d
        where d.custom_check_id = c.id limit 1)`.as('exampleData'),
  ])
}
