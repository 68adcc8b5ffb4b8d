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

/** One that was deleted stays until it has been told of the ends of its sessions; nothing finds it. */
const NOT_DELETED = { deletedAt: null } as const

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
  const application = await applicationTable.find(db, { ...key, ...NOT_DELETED }, options)
  if (application === undefined) throw notFound('application', identifier)
  return application
}

/** The application that a request names; undefined when there is none, or it is switched off. */
export async function findEnabledApplication(
  db: Kysely<Schema>,
  by: Partial<Pick<SignInApplication, 'clientId' | 'id' | 'kind'>>,
): Promise<SignInApplication | undefined> {
  return applicationTable.find(db, { ...by, ...NOT_DELETED, isEnabled: true })
}

/** The application of a client id, also one that is switched off. */
export async function findApplicationByClientId(
  db: Kysely<Schema>,
  clientId: string,
): Promise<SignInApplication | undefined> {
  return applicationTable.find(db, { clientId, ...NOT_DELETED })
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
    .where('deleted_at', 'is', null)
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
    where a.kind = 'forward_auth' and a.deleted_at is null and h.host = any(${[...hosts]}::text[])
      and a.id is distinct from ${exceptId ?? null}
    limit 1`.execute(db)
  return rows[0]
}

export async function listApplications(
  db: Kysely<Schema>,
  window: PageWindow,
): Promise<SignInApplication[]> {
  const query = db.selectFrom('sign_in_application').selectAll().where('deleted_at', 'is', null)
  const rows = await readPage(query, 'id', window)
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

/**
 * Deletes an application of which nothing is left but what it is to be told of the ends of its sessions: with its last
 * logout it goes altogether.
 */
export async function updateApplicationDeleted(
  db: Kysely<Schema>,
  id: string,
  at: Date,
): Promise<void> {
  await applicationTable.update(
    db,
    { id },
    {
      deletedAt: at,
      isEnabled: false,
      // What else refers to it, or is secret, is let go at once.
      ...{ mode: 'step_up', upstreamProviderId: null, hosts: [] },
      ...{ clientSecretSealed: null, jwks: null, jwksUri: null },
    },
  )
}

/** Forgets the deleted applications that are to be told nothing any more. */
export async function deleteToldApplications(db: Kysely<Schema>): Promise<void> {
  await sql`delete from sign_in_application a
    where a.deleted_at is not null and not exists (
      select from sign_in_granted_session s
      where s.application_id = a.id and s.logout_due_at is not null)`.execute(db)
}

/** How many applications there are. */
export async function countApplications(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from sign_in_application where deleted_at is null`.execute(db)
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
