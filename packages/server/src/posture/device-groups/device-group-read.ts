import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { RecordList, type RowOf } from '../../platform/search/record-list.ts'

/** Device groups, each with the number of its members. */
export const DEVICE_GROUP_LIST = new RecordList({
  noun: 'device group',
  table: 'device_group',
  fields: {
    created_at: 'timestamp',
    name: 'text',
    description: 'text',
    updated_at: 'timestamp',
  },
  select: (db: Kysely<Schema>) => db.selectFrom('device_group').selectAll(),
})

/** A device group with the number of its members. */
export type DeviceGroup = RowOf<typeof DEVICE_GROUP_LIST>

/** The condition that `device` is a member of a group. */
export function isMemberOf(deviceGroupId: string): Expression<SqlBool> {
  return sql<SqlBool>`device.id in (
    select device_id from device_group_member where device_group_id = ${deviceGroupId})`
}
