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

/** What campaigns can be searched by. */
export const CAMPAIGN_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'created_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'name', type: 'text', operators: [':', '~'] },
  { name: 'published', type: 'boolean', operators: [':'] },
  { name: 'tables_used', type: 'text', operators: [':', '~'] },
]

const COLUMNS: SearchColumns = {
  created_at: sql.ref('live_query_campaign.created_at'),
  name: sql.ref('live_query_campaign.name'),
  published: sql.ref('live_query_campaign.published'),
  tables_used: usesTable,
}

/** Where the fields of the list are. */
export const CAMPAIGN_LIST: SearchedList = {
  table: 'live_query_campaign',
  key: 'id',
  fields: CAMPAIGN_SEARCH_FIELDS,
  columns: COLUMNS,
}

function usesTable(clause: SearchClause) {
  if (clause.operator === ':') {
    return sql<boolean>`live_query_campaign.tables_used @> array[${clause.values[0]}::text]`
  }
  return sql<boolean>`exists (
    select from unnest(live_query_campaign.tables_used) as used(name)
    where ${clauseToSql(sql.ref('used.name'), clause)})`
}

/** A page of campaigns by ascending id. */
export async function listCampaigns(
  db: Kysely<Schema>,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<CampaignRecord[]> {
  return readPage(db, CAMPAIGN_LIST, { search, window }, (source, isOnPage) =>
    selectCampaigns(source)
      .where(isOnPage)
      .orderBy('live_query_campaign.id')
      .limit(window.limit)
      .execute(),
  )
}

/** The campaign with this id; the id is a decimal number within bigint. */
export async function findCampaign(
  db: Kysely<Schema>,
  id: string,
): Promise<CampaignRecord | undefined> {
  return selectCampaigns(db).where('live_query_campaign.id', '=', id).executeTakeFirst()
}

function selectCampaigns(db: Kysely<Schema>) {
  return db
    .selectFrom('live_query_campaign')
    .selectAll('live_query_campaign')
    .select([
      countOf('successful').as('successful_count'),
      countOf('errored').as('errored_count'),
      countOf('waiting').as('waiting_count'),
    ])
}

function countOf(state: 'successful' | 'errored' | 'waiting') {
  return sql<string>`(
    select coalesce(sum(${sql.ref(`counter.${state}`)}), 0) from live_query_counter counter
    where counter.campaign_id = live_query_campaign.id)`
}

/** A campaign with its counters, as the API shows it. */
export type CampaignRecord = Awaited<
  ReturnType<ReturnType<typeof selectCampaigns>['execute']>
>[number]
