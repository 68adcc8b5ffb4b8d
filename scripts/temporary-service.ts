import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeDataFolder, startEmbeddedPostgres } from '@heliograph/embedded-postgres'
import type { Kysely } from 'kysely'
import { createFoundation } from '../packages/server/src/app/foundation.ts'
import { createParts } from '../packages/server/src/app/parts.ts'
import { loadConfig } from '../packages/server/src/app/config/load-config.ts'
import { systemClock } from '../packages/server/src/platform/clock.ts'
import type { DatabaseConnection } from '../packages/server/src/platform/db/connection.ts'
import { DatabaseNetwork } from '../packages/server/src/platform/db/database-network.ts'
import { openDatabase } from '../packages/server/src/platform/db/database.ts'
import { migrateDatabase } from '../packages/server/src/schema/migrate.ts'
import type { Schema } from '../packages/server/src/schema/schema.ts'
import type { ApiRoute } from '../packages/server/src/platform/http/route.ts'
import { createLogger } from '../packages/server/src/platform/logger.ts'
import { parseMasterKeys } from '../packages/server/src/platform/secrets/master-key.ts'

/** What documents are read from: a migrated database without rows, and the declared routes. */
export interface DocumentSource {
  readonly db: Kysely<Schema>
  readonly routes: readonly ApiRoute[]
  readonly baseUrl: string
}

const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (_fields: object, message: string) => void process.stderr.write(`${message}\n`),
}

/**
 * Composes what documents describe, with the default settings and a database of its own that need not
 * survive anything, hands it over, and leaves nothing behind.
 */
export async function withTemporaryService<Result>(
  work: (source: DocumentSource) => Promise<Result>,
): Promise<Result> {
  const dataDir = await mkdtemp(join(tmpdir(), 'heliograph-documents-'))
  try {
    const server = await startEmbeddedPostgres({ dataDir, log, isDurable: false })
    try {
      await migrateDatabase(server.owner, { log })
      return await composeAndWork(server.owner, work)
    } finally {
      await server.stop()
    }
  } finally {
    await removeDataFolder(dataDir, log)
  }
}

async function composeAndWork<Result>(
  connection: DatabaseConnection,
  work: (source: DocumentSource) => Promise<Result>,
): Promise<Result> {
  const network = new DatabaseNetwork()
  const database = openDatabase<Schema>(connection, {
    network,
    poolMax: 1,
    logError: () => undefined,
  })
  const { db } = database
  try {
    const config = loadConfig({})
    const foundation = createFoundation(config, {
      ...database,
      connection,
      network,
      clock: systemClock,
      synchroniseClock: async () => undefined,
      log: createLogger('silent'),
      masterKeys: parseMasterKeys(randomBytes(32).toString('base64'), 'generated'),
    })
    // Nothing is started: documents need what the parts declare.
    const { routes } = await createParts(foundation)
    return await work({ db, routes, baseUrl: config.baseUrl })
  } finally {
    await database.close()
  }
}
