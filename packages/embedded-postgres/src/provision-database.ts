import { Client, escapeIdentifier } from 'pg'
import type { SocketConnection } from './socket-connection.ts'

/** The role that the program works as, and the database that it owns. */
export const APPLICATION_ROLE = 'heliograph'
export const APPLICATION_DATABASE = 'heliograph'

/**
 * Makes the role and the database exist. Idempotent and run at every start, so a process that died in
 * between leaves nothing that needs repair.
 */
export async function provisionDatabase(administration: SocketConnection): Promise<void> {
  const role = escapeIdentifier(APPLICATION_ROLE)
  const database = escapeIdentifier(APPLICATION_DATABASE)
  const client = new Client({ ...administration })
  client.on('error', () => undefined)
  await client.connect()
  try {
    if (!(await exists(client, 'select from pg_roles where rolname = $1', APPLICATION_ROLE))) {
      await client.query(`create role ${role} login`)
    }
    const findDatabase = 'select from pg_database where datname = $1'
    if (!(await exists(client, findDatabase, APPLICATION_DATABASE))) {
      await client.query(`create database ${database} owner ${role}`)
    }
  } finally {
    await client.end()
  }
}

async function exists(client: Client, text: string, value: string): Promise<boolean> {
  const { rowCount } = await client.query(text, [value])
  return rowCount === 1
}
