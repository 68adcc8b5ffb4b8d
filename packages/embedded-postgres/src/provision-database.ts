import { Client, escapeIdentifier } from 'pg'
import { confineReportingRole } from './confine-reporting-role.ts'
import type { SocketConnection } from './socket-connection.ts'

/** The role that owns the database and every table in it; migrations run as it. */
export const OWNER_ROLE = 'heliograph_owner'
/** The role that the program works as. It owns nothing: what it may do, the owner grants it. */
export const APPLICATION_ROLE = 'heliograph'
export const APPLICATION_DATABASE = 'heliograph'
/** The role that may read what the program grants it, and do nothing else. */
export const REPORTING_ROLE = 'heliograph_reporting'

/**
 * Makes the roles and the database exist. Idempotent and run at every start, so a process that died in
 * between leaves nothing that needs repair.
 */
export async function provisionDatabase(administration: SocketConnection): Promise<void> {
  const database = escapeIdentifier(APPLICATION_DATABASE)
  await withClient(administration, async (client) => {
    await ensureRole(client, OWNER_ROLE)
    await ensureRole(client, APPLICATION_ROLE)
    await ensureRole(client, REPORTING_ROLE)
    // Databases that are made later begin as this one.
    await withClient({ ...administration, database: 'template1' }, confine)
    const findDatabase = 'select from pg_database where datname = $1'
    if (!(await exists(client, findDatabase, APPLICATION_DATABASE))) {
      await client.query(`create database ${database} owner ${escapeIdentifier(OWNER_ROLE)}`)
    }
  })
  await withClient({ ...administration, database: APPLICATION_DATABASE }, async (client) => {
    await disownApplicationRole(client)
    await confine(client)
  })
}

/** In databases of earlier versions the program worked as the owner. */
async function disownApplicationRole(client: Client): Promise<void> {
  const [application, owner] = [APPLICATION_ROLE, OWNER_ROLE].map(escapeIdentifier)
  await client.query(`reassign owned by ${application} to ${owner}`)
}

async function confine(client: Client): Promise<void> {
  await confineReportingRole(client, { reporting: REPORTING_ROLE, application: APPLICATION_ROLE })
}

async function ensureRole(client: Client, name: string): Promise<void> {
  if (await exists(client, 'select from pg_roles where rolname = $1', name)) return
  await client.query(`create role ${escapeIdentifier(name)} login`)
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

async function exists(client: Client, text: string, value: string): Promise<boolean> {
  const { rowCount } = await client.query(text, [value])
  return rowCount === 1
}
