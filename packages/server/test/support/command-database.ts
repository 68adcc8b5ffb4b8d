import { tmpdir } from 'node:os'
import { loadConfig } from '../../src/app/config/load-config.ts'
import { openFoundation, type ServiceFoundation } from '../../src/app/foundation.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createPreparedDatabase, PREPARED_MASTER_KEY } from './prepared-database.ts'
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
  const database = await createPreparedDatabase(systemClock, { poolMax: 1 })
  const environment = {
    DATABASE_URL: toUrl(database.connection),
    HELIOGRAPH_MASTER_KEY: PREPARED_MASTER_KEY,
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
