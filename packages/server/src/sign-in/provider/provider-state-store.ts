/*
 * What the provider of ID tokens remembers: sessions, grants, codes, tokens, requests. A record is found by the hash
 * of what it is known by and sealed: whoever reads the table can use none of it.
 */
import { createHash } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { defineTable } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const stateTable = defineTable('sign_in_provider_state')

export interface ProviderStateDependencies {
  readonly db: Kysely<Schema>
  readonly sealer: Sealer
}

/** A record as the library gives and takes it. */
export type StatePayload = Readonly<Record<string, unknown>>

/** Under what a record is found. */
interface StateName {
  readonly kind: string
  readonly id: string
}

/** Writes a record, or writes it anew. */
export async function putProviderState(
  { db, sealer }: ProviderStateDependencies,
  { kind, id }: StateName,
  payload: StatePayload,
  expiresAt: Date,
): Promise<void> {
  const keyHash = hashOf(kind, id)
  const { grantId, uid } = payload
  const values = stateTable.toInsert({
    keyHash,
    kind,
    payloadSealed: sealer.seal(JSON.stringify(payload), contextOf(keyHash)),
    grantHash: typeof grantId === 'string' ? hashOf('grant', grantId) : null,
    uidHash: typeof uid === 'string' ? hashOf('uid', uid) : null,
    consumedAt: null,
    expiresAt,
  })
  await db
    .insertInto('sign_in_provider_state')
    .values(values)
    .onConflict((conflict) =>
      conflict.column('key_hash').doUpdateSet({
        payload_sealed: values.payload_sealed,
        grant_hash: values.grant_hash ?? null,
        uid_hash: values.uid_hash ?? null,
        expires_at: values.expires_at,
      }),
    )
    .execute()
}

/** Writes a record that must not be there; false when it is. */
export async function insertProviderState(
  { db, sealer }: ProviderStateDependencies,
  { kind, id }: StateName,
  payload: StatePayload,
  expiresAt: Date,
): Promise<boolean> {
  const keyHash = hashOf(kind, id)
  const { numInsertedOrUpdatedRows: count } = await db
    .insertInto('sign_in_provider_state')
    .values(
      stateTable.toInsert({
        keyHash,
        kind,
        payloadSealed: sealer.seal(JSON.stringify(payload), contextOf(keyHash)),
        grantHash: null,
        uidHash: null,
        consumedAt: null,
        expiresAt,
      }),
    )
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (count ?? 0n) > 0n
}

/** A record that has not expired, with the time at which it was used up. */
export async function findProviderState(
  dependencies: ProviderStateDependencies,
  { kind, id }: StateName,
  at: Date,
): Promise<StatePayload | undefined> {
  return find(dependencies, { keyHash: hashOf(kind, id) }, at)
}

/** The session with a `uid`. */
export async function findProviderSession(
  dependencies: ProviderStateDependencies,
  uid: string,
  at: Date,
): Promise<StatePayload | undefined> {
  return find(dependencies, { uidHash: hashOf('uid', uid), kind: 'Session' }, at)
}

async function find(
  { db, sealer }: ProviderStateDependencies,
  by: { readonly keyHash: Buffer } | { readonly uidHash: Buffer; readonly kind: string },
  at: Date,
): Promise<StatePayload | undefined> {
  const record = await stateTable.find(db, by)
  if (record === undefined || record.expiresAt <= at) return undefined
  const text = sealer.openText(record.payloadSealed, contextOf(record.keyHash))
  const payload = JSON.parse(text) as StatePayload
  return record.consumedAt === null
    ? payload
    : { ...payload, consumed: Math.floor(record.consumedAt.getTime() / 1_000) }
}

/** Uses a record up; false when somebody else just has. */
export async function consumeProviderState(
  db: Kysely<Schema>,
  { kind, id }: StateName,
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('sign_in_provider_state')
    .set({ consumed_at: at })
    .where('key_hash', '=', hashOf(kind, id))
    .where('consumed_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function deleteProviderState(
  db: Kysely<Schema>,
  { kind, id }: StateName,
): Promise<void> {
  await stateTable.delete(db, { keyHash: hashOf(kind, id) })
}

/** Deletes codes and tokens of a grant. */
export async function deleteProviderGrant(db: Kysely<Schema>, grantId: string): Promise<void> {
  await sql`delete from sign_in_provider_state where grant_hash = ${hashOf('grant', grantId)}`.execute(
    db,
  )
}

function hashOf(kind: string, id: string): Buffer {
  return createHash('sha256').update(`${kind} ${id}`).digest()
}

function contextOf(keyHash: Buffer) {
  return {
    table: 'sign_in_provider_state',
    column: 'payload_sealed',
    id: keyHash.toString('hex'),
  } as const
}
