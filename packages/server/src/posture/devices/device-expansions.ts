import type { Kysely } from 'kysely'
import { loadPeople } from '../../people/people/person-expansions.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Expansions, LoadRecords } from '../../platform/http/expand.ts'
import { toDeviceJson } from './device-json.ts'
import { listDevicesWithIds } from './device-read.ts'

/** What `expand` can put into a device. */
export function deviceExpansions(db: Kysely<Schema>): Expansions {
  return { owner: { member: 'registered_owner_info', load: loadPeople(db) } }
}

/** Reads devices for the links to them. */
export function loadDevices(db: Kysely<Schema>, baseUrl: string): LoadRecords {
  return async (ids) => {
    const devices = await listDevicesWithIds(db, ids)
    return new Map(devices.map((device) => [device.id, toDeviceJson(baseUrl, device)]))
  }
}
