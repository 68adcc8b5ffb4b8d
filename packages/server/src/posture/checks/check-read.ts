import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { SearchClause } from '../../platform/search/search-field.ts'
import { clauseToSql } from '../../platform/search/search-to-sql.ts'
import { RecordList, type RowOf } from '../../platform/search/record-list.ts'

/** Checks. */
export const CHECK_LIST = new RecordList({
  noun: 'check',
  table: 'posture_check',
  fields: {
    name: 'text',
    check_description: { type: 'text', column: 'description' },
    check_tag_name: { type: 'text', column: (clause) => hasTag(clause, 'check_tag.name') },
    check_tag_description: {
      type: 'text',
      column: (clause) => hasTag(clause, 'check_tag.description'),
    },
    check_tag_id: {
      type: 'id',
      operators: [':', '~'],
      column: (clause) => hasTag(clause, 'check_tag.id'),
    },
    slug: { aliases: ['check_slug'], type: 'text' },
    type: { type: 'enum', values: ['osquery', 'custom', 'external'] },
    updated_at: 'timestamp',
  },
  select: selectChecks,
})

function hasTag(clause: SearchClause, column: string) {
  return sql<boolean>`exists (
    select from posture_check_tag join check_tag on check_tag.id = posture_check_tag.tag_id
    where posture_check_tag.check_id = posture_check.id
      and ${clauseToSql(sql.ref(column), clause)})`
}

/** A tag of a check. */
export interface TagRecord {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly color: string
}

/** A group that a check is bound to: the name of a device group, or the word of a platform. */
export interface GroupRuleRecord {
  readonly rule: 'targeted' | 'excluded' | 'blocking_allowed' | 'blocking_excluded'
  readonly name: string
}

/** How many devices pass a check, and to how many it applies: one row for every check. */
const COUNTED = sql<Readonly<Record<'passing_count' | 'targeted_count', string>>>`(
  select coalesce(sum(device_count) filter (where status = 'passing'), 0) as passing_count,
    coalesce(sum(device_count) filter (where status not in ('out_of_scope', 'inapplicable')), 0) as targeted_count
  from check_counter where check_counter.check_id = posture_check.id)`.as<'counted'>(sql`counted`)

function selectChecks(db: Kysely<Schema>) {
  return db
    .selectFrom('posture_check')
    .innerJoinLateral(COUNTED, (join) => join.onTrue())
    .selectAll('posture_check')
    .select([
      'counted.passing_count',
      'counted.targeted_count',
      sql<TagRecord[]>`coalesce((
        select json_agg(json_build_object('id', check_tag.id::text, 'name', check_tag.name,
          'description', check_tag.description, 'color', check_tag.color) order by check_tag.id)
        from posture_check_tag join check_tag on check_tag.id = posture_check_tag.tag_id
        where posture_check_tag.check_id = posture_check.id), '[]')`.as('tags'),
      sql<GroupRuleRecord[]>`coalesce((
        select json_agg(json_build_object('rule', check_group_rule.rule,
          'name', coalesce(device_group.name, check_group_rule.platform)) order by check_group_rule.id)
        from check_group_rule
          left join device_group on device_group.id = check_group_rule.device_group_id
        where check_group_rule.check_id = posture_check.id), '[]')`.as('group_rules'),
    ])
}

/** A check as the API shows it. */
export type CheckRecord = RowOf<typeof CHECK_LIST>
