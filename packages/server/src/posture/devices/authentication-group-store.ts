import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** The ids of the groups whose members may sign in with a device, in ascending order. */
export async function listAuthenticationGroupIds(
  tx: Transaction<Schema>,
  deviceId: string,
): Promise<string[]> {
  const rows = await tx
    .selectFrom('device_authentication_group')
    .select('person_group_id')
    .where('device_id', '=', deviceId)
    .orderBy('person_group_id')
    .execute()
  return rows.map((row) => row.person_group_id)
}

/**
 * Makes these groups the ones whose members may sign in with a locked device. Groups that do not exist
 * are left out; the ids that are then set are answered in ascending order.
 */
export async function replaceAuthenticationGroups(
  tx: Transaction<Schema>,
  deviceId: string,
  personGroupIds: readonly string[],
): Promise<string[]> {
  await tx
    .deleteFrom('device_authentication_group')
    .where('device_id', '=', deviceId)
    .where(sql<boolean>`person_group_id <> all(${personGroupIds}::bigint[])`)
    .execute()
  await sql`
    insert into device_authentication_group (device_id, person_group_id)
    select ${deviceId}::bigint, id from person_group
    where id = any(${personGroupIds}::bigint[])
    on conflict do nothing
  `.execute(tx)
  return listAuthenticationGroupIds(tx, deviceId)
}
