import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { loadConfig } from '../../src/app/config/load-config.ts'
import { openFoundation, type ServiceFoundation } from '../../src/app/foundation.ts'
import { createTestDatabase } from './database.ts'
import { toUrl } from './to-url.ts'

export interface CommandDatabase {
  /** What the commands work with. */
  readonly services: ServiceFoundation
  /** For `runCommand`. */
  readonly environment: Readonly<Record<string, string>>
  readonly close: () => Promise<void>
}

/** A database for commands. Close it in `afterAll`. */
export async function createCommandDatabase(): Promise<CommandDatabase> {
  const database = await createTestDatabase({ poolMax: 1 })
  const environment = {
    DATABASE_URL: toUrl(database.connection),
    HELIOGRAPH_MASTER_KEY: randomBytes(32).toString('base64'),
    HELIOGRAPH_DATA_DIR: tmpdir(),
  }
  const services = await openFoundation(loadConfig(environment), { purpose: 'command' })
  return {
    services,
    environment,
    close: async () => {
      await services.close()
      await database.close()
    },
  }
}
