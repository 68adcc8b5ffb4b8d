import type { Insertable, Kysely, Transaction, Updateable } from 'kysely'
import type { CamelCased } from '../../platform/db/record-table.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const sessionTable = defineTable('sign_in_granted_session')

/** What somebody was granted who signed in here. */
export type GrantedSession = RecordOf<typeof sessionTable>

export async function insertGrantedSession(
  tx: Transaction<Schema>,
  session: CamelCased<Insertable<Schema['sign_in_granted_session']>>,
): Promise<GrantedSession> {
  return sessionTable.insert(tx, session)
}

export async function findGrantedSession(
  db: Kysely<Schema>,
  by: Partial<Pick<GrantedSession, 'id' | 'sid' | 'cookieHash' | 'attemptId'>>,
): Promise<GrantedSession | undefined> {
  return sessionTable.find(db, by)
}

export async function updateGrantedSession(
  db: Kysely<Schema>,
  id: string,
  changes: CamelCased<Updateable<Schema['sign_in_granted_session']>>,
): Promise<GrantedSession> {
  return sessionTable.update(db, { id }, changes)
}

/** Locks the live sessions of a device, a person or an application, by ascending id. */
export async function listLiveSessionsForUpdate(
  tx: Transaction<Schema>,
  by:
    | { readonly deviceIds: readonly string[] }
    | { readonly personId: string }
    | { readonly applicationId: string },
  at: Date,
): Promise<GrantedSession[]> {
  const rows = await tx
    .selectFrom('sign_in_granted_session')
    .selectAll()
    .$if('deviceIds' in by, (some) =>
      some.where('device_id', 'in', 'deviceIds' in by ? by.deviceIds : []),
    )
    .$if('personId' in by, (some) =>
      some.where('person_id', '=', 'personId' in by ? by.personId : ''),
    )
    .$if('applicationId' in by, (some) =>
      some.where('application_id', '=', 'applicationId' in by ? by.applicationId : ''),
    )
    .where('ended_at', 'is', null)
    .where('expires_at', '>', at)
    .orderBy('id')
    .forUpdate()
    .execute()
  return rows.map((row) => sessionTable.fromRow(row))
}
