import type { StreamRowId } from '../../schema/branded-ids.ts'
import { sql, type Kysely } from 'kysely'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const tokenTable = defineTable('ssf_poll_token')

/** A poll token; the secret is there as its hash only. */
export type PollToken = RecordOf<typeof tokenTable>

/** The poll token with this hash and the stream it belongs to, live or not. */
export async function findPollTokenByHash(db: Kysely<Schema>, secretHash: Buffer) {
  return db
    .selectFrom('ssf_poll_token as token')
    .innerJoin('ssf_stream as stream', 'stream.id', 'token.ssf_stream_id')
    .select([
      'token.id',
      'token.expires_at',
      'token.revoked_at',
      'token.last_used_at',
      'stream.id as streamRowId',
      'stream.stream_id as streamId',
      'stream.name as streamName',
    ])
    .where('token.secret_hash', '=', secretHash)
    .executeTakeFirst()
}

/** The poll tokens of a stream that are accepted, newest first. */
export async function listLivePollTokens(
  db: Kysely<Schema>,
  streamRowId: StreamRowId,
  now: Date,
): Promise<PollToken[]> {
  const rows = await db
    .selectFrom('ssf_poll_token')
    .selectAll()
    .where('ssf_stream_id', '=', streamRowId)
    .where('revoked_at', 'is', null)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .orderBy('id', 'desc')
    .execute()
  return rows.map(tokenTable.fromRow)
}

export async function insertPollToken(
  db: Kysely<Schema>,
  token: Pick<PollToken, 'ssfStreamId' | 'secretHash' | 'secretLastFour' | 'createdAt'>,
): Promise<PollToken> {
  return tokenTable.insert(db, token)
}

/** Ends tokens at `at`; those that end earlier keep their time. */
export async function expirePollTokens(
  db: Kysely<Schema>,
  ids: readonly string[],
  at: Date,
): Promise<void> {
  await sql`update ssf_poll_token set expires_at = least(expires_at, ${at}::timestamptz)
    where id = any(${ids}::bigint[])`.execute(db)
}

export async function revokePollTokens(
  db: Kysely<Schema>,
  ids: readonly string[],
  at: Date,
): Promise<void> {
  await sql`update ssf_poll_token set revoked_at = ${at}::timestamptz
    where id = any(${ids}::bigint[])`.execute(db)
}

/** Forgets the tokens of a stream that ended before a time. */
export async function deleteEndedPollTokens(
  db: Kysely<Schema>,
  streamRowId: StreamRowId,
  before: Date,
): Promise<void> {
  await sql`delete from ssf_poll_token where ssf_stream_id = ${streamRowId}
    and least(revoked_at, expires_at) < ${before}::timestamptz`.execute(db)
}

/** Notes that a token was used at `at`, unless a use has been noted since `unlessSince`. */
export async function touchPollToken(
  db: Kysely<Schema>,
  id: string,
  { at, unlessSince }: { readonly at: Date; readonly unlessSince: Date },
): Promise<void> {
  await sql`update ssf_poll_token set last_used_at = ${at}::timestamptz
    where id = ${id} and (last_used_at is null or last_used_at < ${unlessSince}::timestamptz)`.execute(
    db,
  )
}
