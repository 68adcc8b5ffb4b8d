import { z } from 'zod'
import { toRecord } from '../../platform/db/record-table.ts'
import type { RouteFoundation } from '../../changes/foundation.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import { listRecords, listRoute, showRecord, type ApiRoute } from '../../schema/operations.ts'
import { parseId } from '../../platform/ids.ts'
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
import { CAMPAIGN_LIST } from './campaign-read.ts'
import { changeCampaign, removeCampaign } from './change-campaign.ts'
import { createCampaign } from './create-campaign.ts'
import { assertNamesAllowed, type RefusedNames } from './refused-names.ts'
import {
  isAnswerTo,
  listLiveTargets,
  LIVE_RESULT_LIST,
  type LiveResultRecord,
} from './live-result-read.ts'

const READ = { tags: ['Live queries'], permission: null } as const
const WRITE = { tags: ['Live queries'], permission: 'Create Live Query' } as const

export interface CampaignRouteDependencies extends RouteFoundation {
  readonly refusedNames: RefusedNames
}

/** The operations on live query campaigns. */
export function liveQueryRoutes(dependencies: CampaignRouteDependencies): ApiRoute[] {
  return [...readRoutes(dependencies), ...answerRoutes(dependencies), ...writeRoutes(dependencies)]
}

function readRoutes({ db }: RouteFoundation): ApiRoute[] {
  const campaigns = { db, list: CAMPAIGN_LIST, item: campaignSchema, toJson: toCampaignJson }
  return [
    listRecords(campaigns, {
      ...READ,
      path: '/live_query_campaigns',
      summary: 'List live query campaigns',
    }),
    showRecord(campaigns, {
      ...READ,
      path: '/live_query_campaigns/:id',
      summary: 'Show a live query campaign',
    }),
  ]
}

function answerRoutes({ db, baseUrl }: RouteFoundation): ApiRoute[] {
  const results = {
    db,
    list: LIVE_RESULT_LIST,
    item: liveResultSchema,
    toJson: (result: LiveResultRecord) => toLiveResultJson(baseUrl, result),
  }
  return [
    listRecords(results, {
      ...READ,
      path: '/live_query_campaigns/:id/query_results',
      summary: 'List what devices answered',
      description: 'In the order of arrival, from the first answer on.',
      scope: async ({ id }) => isAnswerTo((await CAMPAIGN_LIST.get(db, id)).id),
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
        const { id } = await CAMPAIGN_LIST.get(db, params.id)
        return listLiveTargets(db, id, filters.state, window)
      },
      toJson: (target) => toLiveTargetJson(baseUrl, target),
      keyOf: (target) => target.deviceId,
    }),
  ]
}

function writeRoutes({ refusedNames, runChange }: CampaignRouteDependencies): ApiRoute[] {
  return [
    changeRoute(runChange, {
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
      handler: async ({ change, body }) => {
        assertNamesAllowed(body.sql, refusedNames, 'sql')
        const { id } = await createCampaign(change, toRecord(body))
        return toCampaignJson(await CAMPAIGN_LIST.get(change.tx, id))
      },
    }),
    changeRoute(runChange, {
      ...WRITE,
      method: 'PATCH',
      path: '/live_query_campaigns/:id',
      summary: 'Change a live query campaign',
      description:
        'Another SQL or other targets raise the revision and ask all targets anew; earlier answers are dropped.',
      body: updateCampaignBody,
      responses: { 200: campaignSchema },
      example: { body: { name: 'Uptime of all devices' } },
      handler: async ({ change, params, body }) => {
        const id = parseId(params.id, 'live query campaign')
        const { published, sql } = await changeCampaign(change, id, toRecord(body))
        // One that only ends stays what it was.
        if (published || body.sql !== undefined) assertNamesAllowed(sql, refusedNames, 'sql')
        return toCampaignJson(await CAMPAIGN_LIST.get(change.tx, id))
      },
    }),
    changeRoute(runChange, {
      ...WRITE,
      method: 'DELETE',
      path: '/live_query_campaigns/:id',
      summary: 'Delete a live query campaign',
      description: 'With its results. Answers the deleted campaign.',
      responses: { 200: campaignSchema },
      handler: async ({ change, params }) => {
        const campaign = await CAMPAIGN_LIST.get(change.tx, params.id)
        await removeCampaign(change, campaign.id)
        return toCampaignJson(campaign)
      },
    }),
  ]
}
