import { createHash } from 'node:crypto'
import { Client, escapeIdentifier, escapeLiteral } from 'pg'
import { confineReportingRole, toConfinement } from './confine-reporting-role.ts'
import type { SocketConnection } from './socket-connection.ts'

/** The role that owns the database and every table in it; migrations run as it. */
export const OWNER_ROLE = 'heliograph_owner'
/** The role that the program works as. It owns nothing: what it may do, the owner grants it. */
export const APPLICATION_ROLE = 'heliograph'
export const APPLICATION_DATABASE = 'heliograph'
/** The role that may read what the program grants it, and do nothing else. */
export const REPORTING_ROLE = 'heliograph_reporting'

/** No database of that name. */
const INVALID_CATALOG_NAME = '3D000'
const TEMPLATE = 'template1'
const ROLES = { reporting: REPORTING_ROLE, application: APPLICATION_ROLE }

/**
 * Makes the roles and the database exist. Idempotent and run at every start, so a process that died in
 * between leaves nothing that needs repair. Where nothing is missing, one connection does it.
 */
export async function provisionDatabase(administration: SocketConnection): Promise<void> {
  const application = { ...administration, database: APPLICATION_DATABASE }
  const provision = async (client: Client) => {
    await provisionServer(client, administration)
    await disownApplicationRole(client)
    await confineReportingRole(client, ROLES)
  }
  try {
    await withClient(application, provision)
  } catch (error) {
    if (!isMissingDatabase(error)) throw error
    await createDatabase(administration)
    await withClient(application, provision)
  }
}

function isMissingDatabase(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === INVALID_CATALOG_NAME
}

async function createDatabase(administration: SocketConnection): Promise<void> {
  const [database, owner] = [APPLICATION_DATABASE, OWNER_ROLE].map(escapeIdentifier)
  await withClient(administration, async (client) => {
    await provisionServer(client, administration)
    await client.query(`create database ${database} owner ${owner}`)
  })
}

/** What belongs to no database, and that from which databases are made. */
async function provisionServer(client: Client, administration: SocketConnection): Promise<void> {
  await ensureRoles(client)
  const found = await readTemplate(client)
  if (found.mark === found.confinedMark) return
  // Databases that are made later begin as this one.
  await withClient({ ...administration, database: TEMPLATE }, async (template) => {
    await confineReportingRole(template, ROLES)
    await template.query(`comment on database ${TEMPLATE} is ${escapeLiteral(found.confinedMark)}`)
  })
}

/** What was confined there, for which roles and server, stands in its comment, which is read from any database. */
async function readTemplate(
  client: Client,
): Promise<{ mark: string | null; confinedMark: string }> {
  const { rows } = await client.query<{ mark: string | null; roles: string; version: string }>(
    `select shobj_description(oid, 'pg_database') as mark, current_setting('server_version_num') as version,
       (select string_agg(oid::text, ' ' order by oid) from pg_roles where oid >= 16384) as roles
     from pg_database where datname = $1`,
    [TEMPLATE],
  )
  const [template] = rows
  const confined = [template?.version, template?.roles, toConfinement(ROLES)].join(' ')
  const hash = createHash('sha256').update(confined)
  return { mark: template?.mark ?? null, confinedMark: hash.digest('hex') }
}

/** In databases of earlier versions the program worked as the owner. */
async function disownApplicationRole(client: Client): Promise<void> {
  const [application, owner] = [APPLICATION_ROLE, OWNER_ROLE].map(escapeIdentifier)
  await client.query(`reassign owned by ${application} to ${owner}`)
}

async function ensureRoles(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select name from unnest($1::text[]) as wanted (name)
     where not exists (select from pg_roles where rolname = name)`,
    [[OWNER_ROLE, APPLICATION_ROLE, REPORTING_ROLE]],
  )
  for (const { name } of rows) await client.query(`create role ${escapeIdentifier(name)} login`)
}

async function withClient(
  connection: SocketConnection,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const client = new Client({ ...connection })
  client.on('error', () => undefined)
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
