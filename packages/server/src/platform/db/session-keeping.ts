/*
 * Whether a connection keeps its session: behind a pooler in transaction mode every statement may meet another
 * session of the server, so that notifications are not heard and locks belong to nobody.
 */
import type { DatabaseConnection } from './connection.ts'
import { DatabaseClient } from './database-client.ts'
import type { DatabaseNetwork } from './database-network.ts'

/** Others may take a session away between two looks. */
const ROUNDS = 3
const SILENT_MAX_MS = 10_000

/** Whether two connections get two sessions, and each keeps its own while the other is in a transaction. */
export async function keepsSession(
  connection: DatabaseConnection,
  network: DatabaseNetwork,
): Promise<boolean> {
  const settings = {
    ...network.settings(connection, SILENT_MAX_MS),
    application_name: 'heliograph',
  }
  const [one, other] = [new DatabaseClient(settings), new DatabaseClient(settings)]
  try {
    for (const client of [one, other]) {
      await client.connect()
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = await getSessionId(one)
      await other.query('begin')
      const others = await getSessionId(other)
      const after = await getSessionId(one)
      await other.query('rollback')
      if (before === others || before !== after) return false
    }
    return true
  } finally {
    await Promise.all([one.close(), other.close()])
  }
}

async function getSessionId(client: DatabaseClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const [row] = rows
  if (row === undefined) throw new Error('the server did not name its session')
  return row.pid
}
