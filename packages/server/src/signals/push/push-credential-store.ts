import type { StreamRowId } from '../../schema/branded-ids.ts'
import { sql, type Kysely } from 'kysely'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'
import type { SealContext } from '../../platform/secrets/sealed-box.ts'

const credentialTable = defineTable('ssf_push_credential', { stream_id: 'streamRowId' })

export type PushCredentialRecord = RecordOf<typeof credentialTable>

/** The credentials of a stream without their version, which the store counts. */
export type PushCredentialValues = Omit<PushCredentialRecord, 'version'>

/** What can be sealed of the credentials of a stream. */
export type SealedPushSecret = 'oauth_client_secret_sealed' | 'client_key_sealed'

/** The place of a sealed secret of a stream; an old secret stays sealed as the new one was. */
export function pushSecretContext(streamRowId: StreamRowId, column: SealedPushSecret): SealContext {
  return { table: 'ssf_push_credential', column, id: streamRowId }
}

/** The credentials of a stream for pushing, if it has any. */
export async function findPushCredential(
  db: Kysely<Schema>,
  streamRowId: StreamRowId,
): Promise<PushCredentialRecord | undefined> {
  return credentialTable.find(db, { streamRowId })
}

/**
 * Greater than any that the stream had: what is kept for credentials that were removed, such as a token, is not used
 * with later ones.
 */
const FIRST_VERSION = sql<string>`(extract(epoch from clock_timestamp()) * 1000000)::bigint`

/** Writes the credentials of a stream in place of those before, under a new version. */
export async function savePushCredential(
  db: Kysely<Schema>,
  credential: PushCredentialValues,
): Promise<void> {
  const { stream_id, ...values } = credentialTable.toInsert(credential)
  await db
    .insertInto('ssf_push_credential')
    .values({ stream_id, ...values, version: FIRST_VERSION })
    .onConflict((conflict) =>
      conflict.column('stream_id').doUpdateSet({
        ...values,
        version: sql`ssf_push_credential.version + 1`,
      }),
    )
    .execute()
}

export async function deletePushCredential(
  db: Kysely<Schema>,
  streamRowId: StreamRowId,
): Promise<void> {
  await credentialTable.delete(db, { streamRowId })
}
