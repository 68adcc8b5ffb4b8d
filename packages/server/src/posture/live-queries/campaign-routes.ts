import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { RunChange } from '../../changes/change.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import type { Schema } from '../../schema/schema.ts'
import { parseId } from '../../platform/ids.ts'
import { answer, listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import { createCampaignBody, updateCampaignBody } from './campaign-input.ts'
import {
  campaignSchema,
  LIVE_TARGET_STATES,
  liveResultSchema,
  liveTargetSchema,
  toCampaignJson,
  toLiveResultJson,
  toLiveTargetJson,
} from './campaign-json.ts'
import {
  CAMPAIGN_SEARCH_FIELDS,
  findCampaign,
  listCampaigns,
  type CampaignRecord,
} from './campaign-read.ts'
import { changeCampaign, removeCampaign } from './change-campaign.ts'
import { createCampaign } from './create-campaign.ts'
import { campaignNotFound } from './live-query.ts'
import { LIVE_RESULT_SEARCH_FIELDS, listLiveResults, listLiveTargets } from './live-result-read.ts'

export interface CampaignRouteDependencies {
  readonly db: Kysely<Schema>
  readonly baseUrl: string
  readonly runChange: RunChange
}

const READ = { tags: ['Live queries'], permission: null } as const
const WRITE = { tags: ['Live queries'], permission: 'Create Live Query' } as const

/** The operations on live query campaigns. */
export function liveQueryRoutes(dependencies: CampaignRouteDependencies): ApiRoute[] {
  return [...readRoutes(dependencies), ...answerRoutes(dependencies), ...writeRoutes(dependencies)]
}

/** @throws AppError `not_found` */
async function getCampaign(db: Kysely<Schema>, text: string): Promise<CampaignRecord> {
  const campaign = await findCampaign(db, parseId(text, 'live query campaign'))
  if (campaign === undefined) throw campaignNotFound(text)
  return campaign
}

function readRoutes({ db }: CampaignRouteDependencies): ApiRoute[] {
  return [
    listRoute({
      ...READ,
      path: '/live_query_campaigns',
      summary: 'List live query campaigns',
      fields: CAMPAIGN_SEARCH_FIELDS,
      item: campaignSchema,
      fetch: ({ search, window }) => listCampaigns(db, search, window),
      toJson: toCampaignJson,
    }),
    route({
      ...READ,
      method: 'GET',
      path: '/live_query_campaigns/:id',
      summary: 'Show a live query campaign',
      responses: { 200: campaignSchema },
      handler: async ({ params }) => toCampaignJson(await getCampaign(db, params.id)),
    }),
  ]
}

function answerRoutes({ db, baseUrl }: CampaignRouteDependencies): ApiRoute[] {
  return [
    listRoute({
      ...READ,
      path: '/live_query_campaigns/:id/query_results',
      summary: 'List what devices answered',
      description: 'In the order of arrival, from the first answer on.',
      fields: LIVE_RESULT_SEARCH_FIELDS,
      item: liveResultSchema,
      fetch: async ({ params, search, window }) => {
        const { id } = await getCampaign(db, params.id)
        return listLiveResults(db, id, search, window)
      },
      toJson: (result) => toLiveResultJson(baseUrl, result),
    }),
    listRoute({
      ...READ,
      path: '/live_query_campaigns/:id/devices',
      summary: 'List the devices that are asked',
      description: 'With the state of each; the devices that matched when the campaign was asked.',
      filters: z.object({
        state: z.enum(LIVE_TARGET_STATES).optional().describe('Only devices in this state.'),
      }),
      item: liveTargetSchema,
      fetch: async ({ params, filters, window }) => {
        const { id } = await getCampaign(db, params.id)
        return listLiveTargets(db, id, filters.state, window)
      },
      toJson: (target) => toLiveTargetJson(baseUrl, target),
      keyOf: (target) => target.device_id,
    }),
  ]
}

function writeRoutes({ runChange }: CampaignRouteDependencies): ApiRoute[] {
  return [
    route({
      ...WRITE,
      method: 'POST',
      path: '/live_query_campaigns',
      summary: 'Ask devices a live query',
      description:
        'Puts SQL to the devices that match at this moment, unless it is kept as a draft. A device that enrolls later is asked when the campaign changes or is published again.',
      body: createCampaignBody,
      responses: { 200: campaignSchema },
      example: {
        body: { name: 'Uptime', sql: 'select * from uptime', target_all_devices: true },
      },
      handler: (context) =>
        runChange(toOrigin(context), async (change) => {
          const { id } = await createCampaign(change, context.body)
          return answer(200, toCampaignJson(await getCampaign(change.tx, id)))
        }),
    }),
    route({
      ...WRITE,
      method: 'PATCH',
      path: '/live_query_campaigns/:id',
      summary: 'Change a live query campaign',
      description:
        'Another SQL or other targets raise the revision and ask all targets anew; earlier answers are dropped.',
      body: updateCampaignBody,
      responses: { 200: campaignSchema },
      example: { body: { name: 'Uptime of all devices' } },
      handler: (context) => {
        const id = parseId(context.params.id, 'live query campaign')
        return runChange(toOrigin(context), async (change) => {
          await changeCampaign(change, id, context.body)
          return answer(200, toCampaignJson(await getCampaign(change.tx, id)))
        })
      },
    }),
    route({
      ...WRITE,
      method: 'DELETE',
      path: '/live_query_campaigns/:id',
      summary: 'Delete a live query campaign',
      description: 'With its results. Answers the deleted campaign.',
      responses: { 200: campaignSchema },
      handler: (context) =>
        runChange(toOrigin(context), async (change) => {
          const campaign = await getCampaign(change.tx, context.params.id)
          await removeCampaign(change, campaign.id)
          return answer(200, toCampaignJson(campaign))
        }),
    }),
  ]
}
