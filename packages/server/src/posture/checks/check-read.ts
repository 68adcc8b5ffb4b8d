import { sql, type Kysely } from 'kysely'
import type { PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import type {
  SearchClause,
  SearchExpression,
  SearchField,
} from '../../platform/search/search-field.ts'
import { clauseToSql, type SearchColumns } from '../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../platform/search/searched-list.ts'

/** What checks can be searched by. */
export const CHECK_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'name', type: 'text', operators: [':', '~'] },
  { name: 'check_description', type: 'text', operators: [':', '~'] },
  { name: 'check_tag_name', type: 'text', operators: [':', '~'] },
  { name: 'check_tag_description', type: 'text', operators: [':', '~'] },
  { name: 'check_tag_id', type: 'id', operators: [':', '~'] },
  { name: 'slug', aliases: ['check_slug'], type: 'text', operators: [':', '~'] },
  { name: 'type', type: 'enum', operators: [':'], values: ['osquery', 'custom', 'external'] },
  { name: 'updated_at', type: 'timestamp', operators: ['<', '>'] },
]

const COLUMNS: SearchColumns = {
  name: sql.ref('posture_check.name'),
  check_description: sql.ref('posture_check.description'),
  check_tag_name: (clause) => hasTag(clause, 'check_tag.name'),
  check_tag_description: (clause) => hasTag(clause, 'check_tag.description'),
  check_tag_id: (clause) => hasTag(clause, 'check_tag.id'),
  slug: sql.ref('posture_check.slug'),
  type: sql.ref('posture_check.type'),
  updated_at: sql.ref('posture_check.updated_at'),
}

/** Where the fields of the list are. */
export const CHECK_LIST: SearchedList = {
  table: 'posture_check',
  key: 'id',
  fields: CHECK_SEARCH_FIELDS,
  columns: COLUMNS,
}

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

/** A page of checks by ascending id. */
export async function listChecks(
  db: Kysely<Schema>,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<CheckRecord[]> {
  return readPage(db, CHECK_LIST, { search, window }, (source, isOnPage) =>
    selectChecks(source).where(isOnPage).orderBy('posture_check.id').limit(window.limit).execute(),
  )
}

/** The check with this id; the id is a decimal number within bigint. */
export async function findCheck(db: Kysely<Schema>, id: string): Promise<CheckRecord | undefined> {
  return selectChecks(db).where('posture_check.id', '=', id).executeTakeFirst()
}

/** The checks with these ids. */
export async function listChecksWithIds(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<CheckRecord[]> {
  return selectChecks(db).where('posture_check.id', 'in', ids).execute()
}

function selectChecks(db: Kysely<Schema>) {
  return db
    .selectFrom('posture_check')
    .selectAll()
    .select([
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
      sql<string>`(select coalesce(sum(device_count), 0) from check_counter
        where check_counter.check_id = posture_check.id and status = 'passing')`.as(
        'passing_count',
      ),
      sql<string>`(select coalesce(sum(device_count), 0) from check_counter
        where check_counter.check_id = posture_check.id and status not in ('out_of_scope', 'inapplicable'))`.as(
        'targeted_count',
      ),
    ])
}

/** A check as the API shows it. */
export type CheckRecord = Awaited<ReturnType<ReturnType<typeof selectChecks>['execute']>>[number]
