import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { hashCredential } from './client-secret.ts'

/** What an access token says, as the authorization server keeps it. */
export type TokenPayload = Readonly<Record<string, unknown>>

/** An access token that was issued to a client. */
export interface IssuedToken {
  readonly clientId: string
  readonly scopes: readonly string[]
  /** Without the token itself. */
  readonly payload: TokenPayload
  readonly issuedAt: Date
  readonly expiresAt: Date
}

/**
 * Keeps a token of a live client by its hash, and that the client was used; answers whether the client
 * was still live.
 */
export async function insertAccessToken(
  db: Kysely<Schema>,
  token: string,
  issued: IssuedToken,
): Promise<boolean> {
  const { rows } = await sql`
    with client as (
      update ssf_client set last_used_at = ${issued.issuedAt}
      where client_id = ${issued.clientId} and revoked_at is null returning id
    )
    insert into ssf_access_token (token_hash, ssf_client_id, scopes, payload, issued_at, expires_at)
    select ${hashCredential(token)}, id, ${issued.scopes}, ${JSON.stringify(issued.payload)}::jsonb,
      ${issued.issuedAt}, ${issued.expiresAt} from client
    returning ssf_client_id`.execute(db)
  return rows.length > 0
}

/** The caller behind an access token. */
export interface TokenBearer {
  /** The record id of the client. */
  readonly id: string
  readonly clientId: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly payload: TokenPayload
}

/** Who a token was issued to; undefined once it or its client has ended, whoever ended it. */
export async function findTokenBearer(
  db: Kysely<Schema>,
  token: string,
  now: Date,
): Promise<TokenBearer | undefined> {
  const row = await db
    .selectFrom('ssf_access_token as token')
    .innerJoin('ssf_client as client', 'client.id', 'token.ssf_client_id')
    .select(['client.id', 'client.client_id', 'client.name', 'token.payload'])
    // What has been taken from the client is taken from its tokens.
    .select(
      sql<string[]>`array(select unnest(token.scopes) intersect select unnest(client.scopes))`.as(
        'scopes',
      ),
    )
    .where('token.token_hash', '=', hashCredential(token))
    .where('token.expires_at', '>', now)
    .where('client.revoked_at', 'is', null)
    .executeTakeFirst()
  return (
    row && {
      id: row.id,
      clientId: row.client_id,
      name: row.name,
      scopes: row.scopes,
      payload: row.payload,
    }
  )
}

/** Ends a token. Idempotent. */
export async function deleteAccessToken(db: Kysely<Schema>, token: string): Promise<void> {
  await db.deleteFrom('ssf_access_token').where('token_hash', '=', hashCredential(token)).execute()
}

/** Ends every token of a client. */
export async function deleteAccessTokensOf(db: Kysely<Schema>, clientId: string): Promise<void> {
  await db.deleteFrom('ssf_access_token').where('ssf_client_id', '=', clientId).execute()
}

/** Notes that an assertion was used; answers false when it was before. */
export async function insertAssertion(
  db: Kysely<Schema>,
  assertionId: string,
  payload: TokenPayload,
  expiresAt: Date,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('ssf_client_assertion')
    .values({
      assertion_id: assertionId,
      payload: JSON.stringify(payload),
      expires_at: expiresAt,
    })
    .onConflict((conflict) => conflict.column('assertion_id').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows > 0n
}

/** What was noted of an assertion. */
export async function findAssertion(
  db: Kysely<Schema>,
  assertionId: string,
): Promise<TokenPayload | undefined> {
  const row = await db
    .selectFrom('ssf_client_assertion')
    .select('payload')
    .where('assertion_id', '=', assertionId)
    .executeTakeFirst()
  return row?.payload
}
