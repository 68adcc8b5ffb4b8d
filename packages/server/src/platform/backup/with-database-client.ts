import { DatabaseClient } from '../db/database-client.ts'
import type { DatabaseConnection } from '../db/connection.ts'
import { DatabaseNetwork } from '../db/database-network.ts'

/** Runs `work` on a connection of its own, which takes the time that it takes. */
export async function withDatabaseClient<Result>(
  connection: DatabaseConnection,
  applicationName: string,
  work: (client: DatabaseClient) => Promise<Result>,
): Promise<Result> {
  const client = new DatabaseClient({
    ...new DatabaseNetwork().settings(connection, 0),
    application_name: applicationName,
  })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}
