import { read, type RecipeTable } from './recipe.ts'

/** Live queries and reporting. */
export const QUERY_RECIPES: RecipeTable = {
  'GET /live_query_campaigns': read(() => '/live_query_campaigns'),
  'GET /live_query_campaigns/{id}': read(({ campaign }) => `/live_query_campaigns/${campaign}`),
  'GET /live_query_campaigns/{id}/query_results': read(
    ({ campaign }) => `/live_query_campaigns/${campaign}/query_results`,
  ),
  'GET /live_query_campaigns/{id}/devices': read(
    ({ campaign }) => `/live_query_campaigns/${campaign}/devices`,
  ),
  'POST /live_query_campaigns': {
    prepare: ({ unique }) => ({
      path: '/live_query_campaigns',
      body: { name: unique('Query'), sql: 'select * from os_version', target_all_devices: true },
    }),
  },
  'PATCH /live_query_campaigns/{id}': {
    prepare: async ({ newCampaign }) => ({
      path: `/live_query_campaigns/${await newCampaign()}`,
      body: { sql: 'select days from uptime' },
    }),
  },
  'DELETE /live_query_campaigns/{id}': {
    prepare: async ({ newCampaign }) => ({ path: `/live_query_campaigns/${await newCampaign()}` }),
  },
  'GET /reporting/tables': read(() => '/reporting/tables'),
  'GET /reporting/tables/{name}': read(
    ({ reportingTable }) => `/reporting/tables/${reportingTable}`,
  ),
  'GET /reporting/tables/{name}/table_records': read(
    ({ reportingTable }) => `/reporting/tables/${reportingTable}/table_records`,
  ),
  'GET /reporting/queries': read(() => '/reporting/queries'),
  'GET /reporting/queries/{id}': read(
    ({ reportingQuery }) => `/reporting/queries/${reportingQuery}`,
  ),
  'GET /reporting/queries/{id}/results': read(
    ({ reportingQuery }) => `/reporting/queries/${reportingQuery}/results`,
  ),
  'POST /reporting/queries': {
    prepare: ({ unique }) => ({
      path: '/reporting/queries',
      body: { name: unique('Report'), sql: 'select username from users' },
    }),
  },
  'PATCH /reporting/queries/{id}': {
    prepare: async ({ newReportingQuery, unique }) => ({
      path: `/reporting/queries/${await newReportingQuery()}`,
      body: { name: unique('Renamed') },
    }),
  },
  'DELETE /reporting/queries/{id}': {
    prepare: async ({ newReportingQuery }) => ({
      path: `/reporting/queries/${await newReportingQuery()}`,
    }),
  },
}
