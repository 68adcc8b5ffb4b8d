import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import type { PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Platform } from '../../schema/tables/device-tables.ts'
import type { SearchExpression, SearchField } from '../../platform/search/search-field.ts'
import { clauseToSql, type SearchColumns } from '../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../platform/search/searched-list.ts'

/** The word of the API for each platform. */
export const DEVICE_TYPES = {
  darwin: 'Mac',
  linux: 'Linux',
  windows: 'Windows',
  ios: 'iOS',
  android: 'Android',
} as const satisfies Record<Platform, string>

/** What devices can be searched by, in every list of them. */
export const DEVICE_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'id', type: 'id', operators: [':'], list: true },
  { name: 'name', type: 'text', operators: [':', '~'] },
  { name: 'registered_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'last_authenticated_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'serial', type: 'text', operators: [':', '~'] },
  { name: 'note', type: 'text', operators: [':', '~'] },
  { name: 'hardware_uuid', type: 'text', operators: [':', '~'] },
  { name: 'device_type', type: 'enum', operators: [':'], values: Object.values(DEVICE_TYPES) },
  { name: 'will_block_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'updated_at', type: 'timestamp', operators: ['<', '>'] },
]

const COLUMNS: SearchColumns = {
  id: sql.ref('device.id'),
  name: sql.ref('device.name'),
  registered_at: sql.ref('device.registered_at'),
  last_authenticated_at: sql.ref('device.last_authenticated_at'),
  serial: sql.ref('device.serial'),
  note: sql.ref('device.note'),
  hardware_uuid: sql.ref('device.hardware_uuid'),
  device_type: (clause) =>
    clauseToSql(sql.ref('device.platform'), {
      ...clause,
      values: mapValues(clause.values, (value) => toPlatform(String(value))),
    }),
  will_block_at: sql.ref('device.will_block_at'),
  updated_at: sql.ref('device.updated_at'),
}

/** Where the fields of the list are. */
export const DEVICE_LIST: SearchedList = {
  table: 'device',
  key: 'id',
  fields: DEVICE_SEARCH_FIELDS,
  columns: COLUMNS,
}

/**
 * A page of devices by ascending id, of all or of those that `condition`, about columns of the device
 * itself, holds for.
 */
export async function listDevices(
  db: Kysely<Schema>,
  search: SearchExpression | undefined,
  window: PageWindow,
  condition: Expression<SqlBool> = sql<SqlBool>`true`,
): Promise<DeviceRecord[]> {
  return readPage(db, DEVICE_LIST, { search, window, scope: condition }, (source, isOnPage) =>
    selectDevices(source).where(isOnPage).orderBy('device.id').limit(window.limit).execute(),
  )
}

/** The device with this id; the id is a decimal number within bigint. */
export async function findDevice(
  db: Kysely<Schema>,
  id: string,
): Promise<DeviceRecord | undefined> {
  return selectDevices(db).where('device.id', '=', id).executeTakeFirst()
}

/** The devices with these ids. */
export async function listDevicesWithIds(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<DeviceRecord[]> {
  return selectDevices(db).where('device.id', 'in', ids).execute()
}

function selectDevices(db: Kysely<Schema>) {
  return db
    .selectFrom('device')
    .leftJoin('device_contact', 'device_contact.device_id', 'device.id')
    .select([
      'device.id',
      'device.name',
      'device.registered_at',
      'device.last_authenticated_at',
      'device_contact.last_seen_at',
      'device.created_at',
      'device.owner_person_id',
      'device.operating_system',
      'device.hardware_model',
      'device.serial',
      'device.hardware_uuid',
      'device.note',
      'device.auth_state',
      'device.will_block_at',
      'device.authentication_mode',
      'device.deletion_due_at',
      'device.platform',
      'device.form_factor',
      sql<PersonGroupName[]>`coalesce((
        select json_agg(json_build_object('id', person_group.id::text, 'name', person_group.name)
          order by person_group.id)
        from device_authentication_group
          join person_group on person_group.id = device_authentication_group.person_group_id
        where device_authentication_group.device_id = device.id), '[]')`.as('person_groups'),
    ])
}

/** A group whose members may sign in with a device. */
export interface PersonGroupName {
  readonly id: string
  readonly name: string
}

/** A device as the API shows it. */
export type DeviceRecord = Awaited<ReturnType<ReturnType<typeof selectDevices>['execute']>>[number]

function toPlatform(word: string): string {
  const entry = Object.entries(DEVICE_TYPES).find(([, type]) => type === word)
  return entry?.[0] ?? word
}

function mapValues<Value>(
  values: readonly [Value, ...Value[]],
  map: (value: Value) => string,
): [string, ...string[]] {
  const [first, ...others] = values
  return [map(first), ...others.map(map)]
}
