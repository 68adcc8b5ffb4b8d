import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { SearchClause } from '../../platform/search/search-field.ts'
import { clauseToSql } from '../../platform/search/search-to-sql.ts'
import { RecordList, type RowOf } from '../../platform/search/record-list.ts'

/** Campaigns of live queries with their counters. */
export const CAMPAIGN_LIST = new RecordList({
  noun: 'live query campaign',
  table: 'live_query_campaign',
  fields: {
    created_at: 'timestamp',
    name: 'text',
    published: 'boolean',
    tables_used: { type: 'text', column: usesTable },
  },
  select: selectCampaigns,
})

function usesTable(clause: SearchClause) {
  if (clause.operator === ':') {
    return sql<boolean>`live_query_campaign.tables_used @> array[${clause.values[0]}::text]`
  }
  return sql<boolean>`exists (
    select from unnest(live_query_campaign.tables_used) as used(name)
    where ${clauseToSql(sql.ref('used.name'), clause)})`
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
export type CampaignRecord = RowOf<typeof CAMPAIGN_LIST>
