import type { Insertable, Kysely, Updateable } from 'kysely'
import { notFound } from '../../platform/app-error.ts'
import { readPage, type PageWindow } from '../../platform/db/page.ts'
import type { CamelCased, FindOptions } from '../../platform/db/record-table.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const upstreamTable = defineTable('sign_in_upstream_provider')

/** A provider of OpenID Connect by which people are known before they are let in. */
export type UpstreamProvider = RecordOf<typeof upstreamTable>

/** @throws AppError `not_found` */
export async function getUpstream(
  db: Kysely<Schema>,
  id: string,
  options?: FindOptions,
): Promise<UpstreamProvider> {
  const provider = await upstreamTable.find(db, { id }, options)
  if (provider === undefined) throw notFound('upstream provider', id)
  return provider
}

export async function listUpstreams(
  db: Kysely<Schema>,
  window: PageWindow,
): Promise<UpstreamProvider[]> {
  const rows = await readPage(db.selectFrom('sign_in_upstream_provider').selectAll(), 'id', window)
  return rows.map((row) => upstreamTable.fromRow(row))
}

export async function insertUpstream(
  db: Kysely<Schema>,
  provider: CamelCased<Insertable<Schema['sign_in_upstream_provider']>>,
): Promise<UpstreamProvider> {
  return upstreamTable.insert(db, provider)
}

export async function updateUpstream(
  db: Kysely<Schema>,
  id: string,
  changes: CamelCased<Updateable<Schema['sign_in_upstream_provider']>>,
): Promise<UpstreamProvider> {
  return upstreamTable.update(db, { id }, changes)
}

export async function deleteUpstream(db: Kysely<Schema>, id: string): Promise<void> {
  await upstreamTable.delete(db, { id })
}

/** The secret is sealed for its issuer and client. */
function secretContext({ issuer, clientId }: Pick<UpstreamProvider, 'issuer' | 'clientId'>) {
  return {
    table: 'sign_in_upstream_provider',
    column: 'client_secret_sealed',
    id: `${issuer} ${clientId}`,
  } as const
}

export function sealUpstreamSecret(
  sealer: Sealer,
  client: Pick<UpstreamProvider, 'issuer' | 'clientId'>,
  secret: string,
): Buffer {
  return sealer.seal(secret, secretContext(client))
}

/** How a provider is reached. */
export function toUpstreamAccess(sealer: Sealer, provider: UpstreamProvider) {
  const { issuer, clientId, clientSecretSealed } = provider
  return {
    issuer,
    clientId,
    clientSecret: sealer.openText(clientSecretSealed, secretContext(provider)),
  }
}
