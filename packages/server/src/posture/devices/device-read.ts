import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { AUTH_STATES } from '../../schema/status-values.ts'
import type { Platform } from '../../schema/tables/device-tables.ts'
import type { SearchClause } from '../../platform/search/search-field.ts'
import {
  clauseToSql,
  type ClauseCondition,
  type ConditionUse,
} from '../../platform/search/search-to-sql.ts'
import { fewTextsField } from '../../platform/search/text-fields.ts'
import { RecordList, type RowOf } from '../../platform/search/record-list.ts'

/** The word of the API for each platform. */
export const DEVICE_TYPES = {
  darwin: 'Mac',
  linux: 'Linux',
  windows: 'Windows',
  ios: 'iOS',
  android: 'Android',
} as const satisfies Record<Platform, string>

/** Devices. */
export const DEVICE_LIST = new RecordList({
  noun: 'device',
  table: 'device',
  fields: {
    id: 'id',
    name: 'text',
    registered_at: 'timestamp',
    last_authenticated_at: 'timestamp',
    serial: { type: 'text', column: hardwareField('serial') },
    note: 'text',
    hardware_uuid: { type: 'text', column: hardwareField('hardware_uuid') },
    device_type: { type: 'enum', values: Object.values(DEVICE_TYPES), column: isOfType },
    auth_state: { type: 'enum', values: AUTH_STATES, column: statusField('auth_state') },
    operating_system: {
      type: 'text',
      column: fewTextsField({ table: 'device', column: 'operating_system' }),
    },
    hardware_model: {
      type: 'text',
      column: fewTextsField({ table: 'device', column: 'hardware_model' }),
    },
    owner_id: { type: 'id', column: 'owner_person_id' },
    owner: { type: 'text', column: isOwnedBy },
    // The contact of each device is a page of its own to read.
    last_seen_at: { type: 'timestamp', column: isSeenAt, nearRows: 1_000 },
    will_block_at: { type: 'timestamp', column: statusField('will_block_at') },
    updated_at: 'timestamp',
    duplicate_hardware_since: 'timestamp',
  },
  select: selectDevices,
})

/** The last contact; of a device that has made none yet, when it enrolled. */
const LAST_SEEN_AT = sql`coalesce((
  select device_contact.last_seen_at from device_contact
  where device_contact.device_id = device.id), device.created_at)`

function selectDevices(db: Kysely<Schema>) {
  return db.selectFrom('device').select([
    'device.id',
    'device.name',
    'device.registered_at',
    'device.last_authenticated_at',
    // Not joined: for the last pages PostgreSQL would merge the contacts of all devices before them.
    sql<Date>`${LAST_SEEN_AT}`.as('last_seen_at'),
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
    'device.duplicate_hardware_since',
    'device.platform',
    'device.form_factor',
    // Only this mode has groups: to look for those of each device takes a third of the time of a page.
    sql<PersonGroupName[]>`coalesce(
        case when device.authentication_mode = 'only_registered_owner_or_group_members' then (
          select json_agg(json_build_object('id', person_group.id::text, 'name', person_group.name)
            order by person_group.id)
          from device_authentication_group
            join person_group on person_group.id = device_authentication_group.person_group_id
          where device_authentication_group.device_id = device.id) end, '[]')`.as('person_groups'),
  ])
}

/** A group whose members may sign in with a device. */
export interface PersonGroupName {
  readonly id: string
  readonly name: string
}

/** A device as the API shows it. */
export type DeviceRecord = RowOf<typeof DEVICE_LIST>

/** What tells devices apart is indexed in lower case. */
function hardwareField(column: 'serial' | 'hardware_uuid') {
  const stored = sql.ref(`device.${column}`)
  return (clause: SearchClause): Expression<SqlBool> => {
    const isMatch = clauseToSql(stored, clause)
    if (clause.operator !== ':') return isMatch
    return sql<SqlBool>`(lower(${stored}) = lower(${clause.values[0]}) and ${isMatch})`
  }
}

function isOfType(clause: SearchClause): Expression<SqlBool> {
  const values = mapValues(clause.values, (value) => toPlatform(String(value)))
  return clauseToSql(sql.ref('device.platform'), { ...clause, values })
}

/**
 * A field that `device_auth_state` holds as well, beside the devices: they are found by it there, as an index on the
 * device would cost each change of one.
 */
function statusField(column: 'auth_state' | 'will_block_at') {
  return (clause: SearchClause, use: ConditionUse): Expression<SqlBool> => {
    if (use !== 'found') return clauseToSql(sql.ref(`device.${column}`), clause)
    return sql<SqlBool>`exists (
      select from device_auth_state state
      where state.device_id = device.id and ${clauseToSql(sql.ref(`state.${column}`), clause)})`
  }
}

/** By the name or the email address of the owner. */
function isOwnedBy(clause: SearchClause): Expression<SqlBool> {
  return sql<SqlBool>`exists (
    select from person where person.id = device.owner_person_id
      and (${clauseToSql(sql.ref('person.name'), clause)}
        or ${clauseToSql(sql.ref('person.email'), clause)}))`
}

/**
 * Where devices are found by it, those with a contact and those without are looked for separately: not by a look per
 * device. The latter are few, and found by two keys alone before their own rows are read.
 */
function isSeenAt(clause: SearchClause, use: ConditionUse): ClauseCondition {
  if (use !== 'found') return clauseToSql(LAST_SEEN_AT, clause)
  const isContactAt = clauseToSql(sql.ref('device_contact.last_seen_at'), clause)
  return [
    sql<SqlBool>`exists (
      select from device_contact where device_contact.device_id = device.id and ${isContactAt})`,
    sql<SqlBool>`(device.id = any(array(
      select silent.id from device as silent
      where not exists (select from device_contact where device_contact.device_id = silent.id)
    )) and ${clauseToSql(sql.ref('device.created_at'), clause)})`,
  ]
}

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
