/*
 * Says in the database that this process is there, for `heliograph status`. Nothing of the service depends on it: what
 * workers have claimed goes by locks (`signals/dispatch/worker-presence.ts`).
 */
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Foundation, ServicePart } from '../../changes/foundation.ts'
import { HOUR_MS, SECOND_MS } from '../../platform/clock.ts'
import { randomInteger } from '../../platform/ids.ts'
import { startRepeating } from '../../platform/jobs/periodic-job.ts'
import type { RunningJob } from '../../platform/jobs/running-job.ts'
import { readKnownSchemaVersion } from '../../schema/migrate.ts'
import { PROCESS_ROLES, type ProcessRole } from '../../schema/process-role.ts'
import { deleteProcess, upsertProcess, type ProcessFacts } from './process-store.ts'

/** A row is written so often by each process. */
export const PRESENCE_INTERVAL_MS = 30 * SECOND_MS
/** A process that died is shown as missing until somebody has had time to look. */
const FORGOTTEN_AFTER_MS = HOUR_MS
const ID_MAX = 2 ** 31 - 1

export interface PresenceSettings {
  readonly roles: readonly ProcessRole[]
}

/** `countNodes` tells of how many devices the process holds the node key, where it serves agents. */
export function createPresencePart(
  { preparedDb: db, log }: Pick<Foundation, 'preparedDb' | 'log'>,
  { roles }: PresenceSettings,
  countNodes: () => number,
): ServicePart {
  const id = randomInteger(1, ID_MAX)
  let facts: Omit<ProcessFacts, 'knownNodes'> | undefined
  let running: RunningJob | undefined
  async function tell(): Promise<number> {
    try {
      facts ??= await readFacts(id, roles)
      const knownNodes = roles.includes('agents') ? countNodes() : null
      await upsertProcess(db, { ...facts, knownNodes }, FORGOTTEN_AFTER_MS)
    } catch (error) {
      // A database that is away is told by others; the next time comes soon.
      log.debug({ err: error }, 'that this process is there could not be stored')
    }
    return PRESENCE_INTERVAL_MS
  }
  return {
    name: 'presence',
    roles: PROCESS_ROLES,
    start: async () => {
      await tell()
      running = startRepeating(tell, PRESENCE_INTERVAL_MS)
    },
    stop: async () => {
      await running?.stop()
      // Of a database that is away the row goes by its age.
      await deleteProcess(db, id).catch(() => undefined)
    },
  }
}

async function readFacts(
  id: number,
  roles: readonly ProcessRole[],
): Promise<Omit<ProcessFacts, 'knownNodes'>> {
  return {
    id,
    roles: [...roles],
    version: readProgramVersion(),
    schemaVersion: await readKnownSchemaVersion(),
    host: hostname(),
  }
}

/** The version of the package that this program is of. */
function readProgramVersion(): string {
  const path = join(import.meta.dirname, '../../../package.json')
  const { version } = JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }
  return version
}
