import { sql, type Expression, type Kysely, type Selectable, type SqlBool } from 'kysely'
import type { PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import type { DeviceGroupTable } from '../../schema/tables/device-tables.ts'
import type { SearchExpression, SearchField } from '../../platform/search/search-field.ts'
import type { SearchColumns } from '../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../platform/search/searched-list.ts'

/** What device groups can be searched by. */
export const DEVICE_GROUP_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'created_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'name', type: 'text', operators: [':', '~'] },
  { name: 'description', type: 'text', operators: [':', '~'] },
  { name: 'updated_at', type: 'timestamp', operators: ['<', '>'] },
]

const COLUMNS: SearchColumns = {
  created_at: sql.ref('device_group.created_at'),
  name: sql.ref('device_group.name'),
  description: sql.ref('device_group.description'),
  updated_at: sql.ref('device_group.updated_at'),
}

/** Where the fields of the list are. */
export const DEVICE_GROUP_LIST: SearchedList = {
  table: 'device_group',
  key: 'id',
  fields: DEVICE_GROUP_SEARCH_FIELDS,
  columns: COLUMNS,
}

/** A device group with the number of its members. */
export type DeviceGroup = Selectable<DeviceGroupTable>

/** A page of device groups by ascending id. */
export async function listDeviceGroups(
  db: Kysely<Schema>,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<DeviceGroup[]> {
  return readPage(db, DEVICE_GROUP_LIST, { search, window }, (source, isOnPage) =>
    source
      .selectFrom('device_group')
      .selectAll()
      .where(isOnPage)
      .orderBy('device_group.id')
      .limit(window.limit)
      .execute(),
  )
}

/** The device group with this id; the id is a decimal number within bigint. */
export async function findDeviceGroup(
  db: Kysely<Schema>,
  id: string,
): Promise<DeviceGroup | undefined> {
  return db.selectFrom('device_group').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The condition that `device` is a member of a group. */
export function isMemberOf(deviceGroupId: string): Expression<SqlBool> {
  return sql<SqlBool>`device.id in (
    select device_id from device_group_member where device_group_id = ${deviceGroupId})`
}
