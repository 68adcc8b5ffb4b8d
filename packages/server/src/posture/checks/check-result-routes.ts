import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import { deviceResource, deviceSchema } from '../devices/device-json.ts'
import { DEVICE_LIST } from '../devices/device-read.ts'
import { AppError } from '../../platform/app-error.ts'
import { expanded } from '../../platform/http/expand.ts'
import { listRoute, loadRecords, type ApiRoute } from '../../schema/operations.ts'
import { recordIdSchema, timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { parseId } from '../../platform/ids.ts'
import { checkResource, checkSchema } from './check-json.ts'
import { CHECK_LIST } from './check-read.ts'
import {
  CHECK_RESULT_STATUSES,
  checkResultList,
  isResultOf,
  isResultOn,
  SHOWN_ROWS_MAX,
  type CheckResultRecord,
} from './check-result-read.ts'
import { requestCheckRefresh } from './request-check-refresh.ts'
import { STALE_AFTER_INTERVALS, staleBefore } from './stale-result.ts'

export interface CheckResultRouteDependencies extends Pick<
  Foundation,
  'db' | 'clock' | 'runChange'
> {
  readonly baseUrl: string
  readonly checkIntervalMs: number
}

/** The present result of a check on a device, on the wire. */
export const checkResultSchema = z
  .object({
    id: z.string(),
    check_id: z.string(),
    check_slug: z.string(),
    check_name: z.string(),
    device_id: z.string(),
    device_display_name: z.string(),
    ran_at: timestampSchema.nullable().describe('Null while the check has never answered.'),
    exemption_reason: z.string().nullable(),
    exemption_expires_at: timestampSchema.nullable(),
    check_result_data: z
      .array(z.record(z.string(), z.string()))
      .describe(`What the check answered, failing rows first, at most ${SHOWN_ROWS_MAX}.`),
    status: z
      .enum(CHECK_RESULT_STATUSES)
      .describe(
        `\`stale\` when the device has not answered for ${STALE_AFTER_INTERVALS} intervals.`,
      ),
    device: expanded(deviceSchema),
    check: expanded(checkSchema),
  })
  .meta({ id: 'CheckResult' })

const checkRefreshSchema = z
  .object({
    device_id: z.string(),
    check_id: z.string(),
    check_refresh_initiated_at: timestampSchema,
  })
  .meta({ id: 'CheckRefresh' })

/** Results of checks, and asking for new ones. */
export function checkResultRoutes(dependencies: CheckResultRouteDependencies): ApiRoute[] {
  return [...resultRoutes(dependencies), refreshRoute(dependencies)]
}

function resultRoutes(dependencies: CheckResultRouteDependencies): ApiRoute[] {
  const { db, clock, baseUrl, checkIntervalMs } = dependencies
  // What reads as stale depends on the time of the request.
  const listNow = () => {
    const now = clock.now()
    return checkResultList(now, staleBefore(now, checkIntervalMs))
  }
  const shared = {
    permission: null,
    fields: listNow().fields,
    item: checkResultSchema,
    toJson: toCheckResultJson,
    expand: {
      device: {
        member: 'device_id',
        into: 'device',
        load: loadRecords(deviceResource(db, baseUrl)),
      },
      check: { member: 'check_id', into: 'check', load: loadRecords(checkResource(db)) },
    },
  } as const
  return [
    listRoute({
      ...shared,
      path: '/devices/:id/check_results',
      summary: 'List the check results of a device',
      tags: ['Devices'],
      fetch: async ({ params, search, window }) => {
        const { id } = await DEVICE_LIST.get(db, params.id)
        return listNow().listPage(db, { search, window, scope: isResultOn(id) })
      },
    }),
    listRoute({
      ...shared,
      path: '/checks/:id/results',
      summary: 'List the results of a check',
      description: 'On devices; results of people are shown as their issues.',
      tags: ['Checks'],
      fetch: async ({ params, search, window }) => {
        const { id } = await CHECK_LIST.get(db, params.id)
        return listNow().listPage(db, { search, window, scope: isResultOf(id) })
      },
    }),
  ]
}

function refreshRoute({ runChange }: CheckResultRouteDependencies): ApiRoute {
  return changeRoute(runChange, {
    method: 'POST',
    path: '/devices/:id/check_refreshes',
    summary: 'Run a check on a device again',
    description:
      'The device gets the check with its next check-in and polls every few seconds until it has answered.',
    tags: ['Devices'],
    permission: 'Refresh Check',
    body: z.object({ check_id: recordIdSchema.optional() }),
    responses: { 200: checkRefreshSchema },
    example: { body: { check_id: '1' } },
    handler: async ({ change, params, body }) => {
      const { check_id: checkId } = body
      if (checkId === undefined) throw missingCheckId()
      const refresh = await requestCheckRefresh(change, parseId(params.id, 'device'), checkId)
      return toWire(checkRefreshSchema, refresh, {
        check_refresh_initiated_at: toTimestamp(refresh.requestedAt),
      })
    },
  })
}

/** Clients know a request without a check as one for a check that does not exist. */
function missingCheckId(): AppError {
  const message = 'The parameter check_id is required: the id of a check.'
  return new AppError('not_found', message)
}

function toCheckResultJson(result: CheckResultRecord) {
  return toWire(checkResultSchema, result, {
    device_display_name: result.deviceName,
    check_result_data: result.rows,
  })
}
