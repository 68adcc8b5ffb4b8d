import { sql, type Insertable, type Kysely, type SqlBool, type Updateable } from 'kysely'
import { notFound } from '../../platform/app-error.ts'
import { readPage, type PageWindow } from '../../platform/db/page.ts'
import type { CamelCased, FindOptions } from '../../platform/db/record-table.ts'
import { isId } from '../../platform/ids.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const applicationTable = defineTable('sign_in_application')

/** Who sends people here to sign in. */
export type SignInApplication = RecordOf<typeof applicationTable>

/**
 * An application by its `id` or its `client_id`.
 *
 * @throws AppError `not_found`
 */
export async function getApplication(
  db: Kysely<Schema>,
  identifier: string,
  options?: FindOptions,
): Promise<SignInApplication> {
  const key = isId(identifier) ? { id: identifier } : { clientId: identifier }
  const application = await applicationTable.find(db, key, options)
  if (application === undefined) throw notFound('application', identifier)
  return application
}

/** The application that a request names; undefined when there is none, or it is switched off. */
export async function findEnabledApplication(
  db: Kysely<Schema>,
  by: Partial<Pick<SignInApplication, 'clientId' | 'id' | 'kind'>>,
): Promise<SignInApplication | undefined> {
  return applicationTable.find(db, { ...by, isEnabled: true })
}

/** The application of a client id, also one that is switched off. */
export async function findApplicationByClientId(
  db: Kysely<Schema>,
  clientId: string,
): Promise<SignInApplication | undefined> {
  return applicationTable.find(db, { clientId })
}

/** The application that a host belongs to; undefined when there is none, or it is switched off. */
export async function findApplicationOfHost(
  db: Kysely<Schema>,
  host: string,
): Promise<SignInApplication | undefined> {
  const row = await db
    .selectFrom('sign_in_application')
    .selectAll()
    .where('kind', '=', 'forward_auth')
    .where('is_enabled', '=', true)
    .where(sql<SqlBool>`${host} = any(hosts)`)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return row && applicationTable.fromRow(row)
}

/** One of these hosts that belongs to an application already, on or off. */
export async function findOwnerOfHosts(
  db: Kysely<Schema>,
  hosts: readonly string[],
  exceptId: string | undefined,
): Promise<{ readonly name: string; readonly host: string } | undefined> {
  const { rows } = await sql<{ name: string; host: string }>`
    select a.name, h.host from sign_in_application a cross join lateral unnest(a.hosts) as h(host)
    where a.kind = 'forward_auth' and h.host = any(${[...hosts]}::text[])
      and a.id is distinct from ${exceptId ?? null}
    limit 1`.execute(db)
  return rows[0]
}

export async function listApplications(
  db: Kysely<Schema>,
  window: PageWindow,
): Promise<SignInApplication[]> {
  const rows = await readPage(db.selectFrom('sign_in_application').selectAll(), 'id', window)
  return rows.map((row) => applicationTable.fromRow(row))
}

export async function insertApplication(
  db: Kysely<Schema>,
  application: CamelCased<Insertable<Schema['sign_in_application']>>,
): Promise<SignInApplication> {
  return applicationTable.insert(db, application)
}

export async function updateApplication(
  db: Kysely<Schema>,
  id: string,
  changes: CamelCased<Updateable<Schema['sign_in_application']>>,
): Promise<SignInApplication> {
  return applicationTable.update(db, { id }, changes)
}

export async function deleteApplication(db: Kysely<Schema>, id: string): Promise<void> {
  await applicationTable.delete(db, { id })
}

/** How many applications there are. */
export async function countApplications(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from sign_in_application`.execute(db)
  return rows[0]?.count ?? 0
}

/** How many applications know people by an upstream provider. */
export async function countApplicationsOfUpstream(
  db: Kysely<Schema>,
  upstreamId: string,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from sign_in_application
    where upstream_provider_id = ${upstreamId}`.execute(db)
  return rows[0]?.count ?? 0
}
