import type { Kysely } from 'kysely'
import { issueResource } from '../issues/issue-json.ts'
import { isOpenIssueOn } from '../issues/issue-read.ts'
import type { Schema } from '../../schema/schema.ts'
import { listRecords, showRecord, type ApiRoute } from '../../schema/operations.ts'
import { deviceResource } from './device-json.ts'
import { DEVICE_LIST } from './device-read.ts'

/** Reading devices and their open issues. */
export function deviceRoutes(db: Kysely<Schema>, baseUrl: string): ApiRoute[] {
  const access = { tags: ['Devices'], permission: null } as const
  const devices = deviceResource(db, baseUrl)
  return [
    listRecords(devices, { ...access, path: '/devices', summary: 'List devices' }),
    showRecord(devices, { ...access, path: '/devices/:id', summary: 'Show a device' }),
    listRecords(issueResource(db, baseUrl), {
      ...access,
      path: '/devices/:id/open_issues',
      summary: 'List the open issues of a device',
      scope: async ({ id }) => isOpenIssueOn((await DEVICE_LIST.get(db, id)).id),
    }),
  ]
}
