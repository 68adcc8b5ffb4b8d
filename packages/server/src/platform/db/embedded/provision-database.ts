import { Client, escapeIdentifier } from 'pg'
import { toClientConfig } from '../connection.ts'
import type { SocketConnection } from '../connection.ts'
import { REQUIRED_EXTENSIONS } from '../extensions.ts'

/** The role that the service works as and the database that it owns. */
export const APPLICATION_ROLE = 'heliograph'
export const APPLICATION_DATABASE = 'heliograph'

/**
 * Makes the role, the database and its extensions exist. Idempotent and run at every start, so a
 * process that died in between leaves nothing that needs repair.
 */
export async function provisionDatabase(administration: SocketConnection): Promise<void> {
  await withClient(administration, async (client) => {
    if (!(await exists(client, 'select from pg_roles where rolname = $1', APPLICATION_ROLE))) {
      await client.query(`create role ${escapeIdentifier(APPLICATION_ROLE)} login`)
    }
    if (
      !(await exists(client, 'select from pg_database where datname = $1', APPLICATION_DATABASE))
    ) {
      await client.query(
        `create database ${escapeIdentifier(APPLICATION_DATABASE)} owner ${escapeIdentifier(APPLICATION_ROLE)}`,
      )
    }
  })
  await withClient({ ...administration, database: APPLICATION_DATABASE }, async (client) => {
    for (const extension of REQUIRED_EXTENSIONS) {
      await client.query(`create extension if not exists ${escapeIdentifier(extension)}`)
    }
  })
}

async function exists(client: Client, text: string, value: string): Promise<boolean> {
  const { rowCount } = await client.query(text, [value])
  return rowCount === 1
}

async function withClient(
  connection: SocketConnection,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const client = new Client(toClientConfig(connection))
  client.on('error', () => undefined)
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
