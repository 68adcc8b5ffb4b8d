import type { Kysely } from 'kysely'
import { ISSUE_SEARCH_FIELDS, listIssues } from '../issues/issue-read.ts'
import { issueExpansions } from '../issues/issue-expansions.ts'
import { issueSchema, toIssueJson } from '../issues/issue-json.ts'
import type { Schema } from '../../schema/schema.ts'
import { parseId } from '../../platform/ids.ts'
import { notFound } from '../../platform/app-error.ts'
import { listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import { deviceExpansions } from './device-expansions.ts'
import { deviceSchema, toDeviceJson } from './device-json.ts'
import { DEVICE_SEARCH_FIELDS, findDevice, listDevices, type DeviceRecord } from './device-read.ts'

/** Reading devices and their open issues. */
export function deviceRoutes(db: Kysely<Schema>, baseUrl: string): ApiRoute[] {
  const tags = ['Devices']
  const getDevice = async (id: string): Promise<DeviceRecord> => {
    const device = await findDevice(db, parseId(id, 'device'))
    if (device === undefined) throw notFound('device', id)
    return device
  }
  return [
    listRoute({
      path: '/devices',
      summary: 'List devices',
      tags,
      permission: null,
      fields: DEVICE_SEARCH_FIELDS,
      expand: deviceExpansions(db),
      item: deviceSchema,
      fetch: ({ search, window }) => listDevices(db, search, window),
      toJson: (device) => toDeviceJson(baseUrl, device),
    }),
    route({
      method: 'GET',
      path: '/devices/:id',
      summary: 'Show a device',
      tags,
      permission: null,
      expand: deviceExpansions(db),
      responses: { 200: deviceSchema },
      handler: async ({ params }) => toDeviceJson(baseUrl, await getDevice(params.id)),
    }),
    listRoute({
      path: '/devices/:id/open_issues',
      summary: 'List the open issues of a device',
      tags,
      permission: null,
      fields: ISSUE_SEARCH_FIELDS,
      expand: issueExpansions(db, baseUrl),
      item: issueSchema,
      fetch: async ({ params, search, window }) => {
        const device = await getDevice(params.id)
        return listIssues(db, { search, window, openOnDeviceId: device.id })
      },
      toJson: (issue) => toIssueJson(baseUrl, issue),
    }),
  ]
}
