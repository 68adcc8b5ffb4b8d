/* Three processes of the service, each with every role, over one database that they reach through HAProxy. */
import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseClient } from '../../packages/server/src/platform/db/database-client.ts'
import { ServiceProcess } from '../../packages/server/test/e2e/support/service-process.ts'
import type { Balancer } from './balancer.ts'
import type { DatabaseNode } from './patroni-cluster.ts'

export interface Services {
  readonly processes: readonly [ServiceProcess, ...ServiceProcess[]]
  readonly baseUrl: string
  /** A connection to the database, by whoever is primary. Whoever opens it closes it. */
  connect(): Promise<DatabaseClient>
  areReady(): Promise<boolean>
}

/** Enough that three processes and their listeners stay below the limit of the server. */
const POOL_MAX = 12

export async function startServices(
  folder: string,
  ports: readonly number[],
  balancer: Pick<Balancer, 'databasePort' | 'servicePort'>,
  { primary, poolerPort }: { readonly primary: DatabaseNode; readonly poolerPort?: number },
): Promise<Services> {
  await createDatabase(primary)
  const toUrl = (port: number) => `postgres://heliograph@127.0.0.1:${port}/heliograph`
  const databaseUrl = toUrl(balancer.databasePort)
  const baseUrl = `http://127.0.0.1:${balancer.servicePort}`
  const environment = {
    DATABASE_URL: toUrl(poolerPort ?? balancer.databasePort),
    ...(poolerPort !== undefined && { HELIOGRAPH_DATABASE_SESSION_URL: databaseUrl }),
    HELIOGRAPH_BASE_URL: baseUrl,
    HELIOGRAPH_MASTER_KEY: randomBytes(32).toString('base64'),
    HELIOGRAPH_DATABASE_POOL_MAX: String(POOL_MAX),
    HELIOGRAPH_CHECK_INTERVAL_SECONDS: '1',
    HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '1000000',
    HELIOGRAPH_LOG_LEVEL: 'warn',
    HELIOGRAPH_PROBE_PORTS: 'off',
  }
  const made: ServiceProcess[] = []
  for (const [at, port] of ports.entries()) {
    const dataDir = join(folder, `service-${at + 1}`)
    await mkdir(dataDir, { mode: 0o700 })
    const service = new ServiceProcess({ dataDir, port, environment, hasOwnSession: true })
    made.push(service)
    await service.start()
  }
  const [first, ...others] = made
  if (first === undefined) throw new Error('there is no process')
  return {
    processes: [first, ...others],
    baseUrl,
    async connect() {
      const client = new DatabaseClient({ connectionString: databaseUrl })
      client.on('error', () => undefined)
      await client.connect()
      return client
    },
    areReady: async () =>
      (await Promise.all(ports.map(isReady))).every((ready) => ready) &&
      (await isReady(balancer.servicePort)),
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(3_000)
    return (await fetch(`http://127.0.0.1:${port}/readyz`, { signal })).ok
  } catch {
    return false
  }
}

async function createDatabase({ port }: DatabaseNode): Promise<void> {
  const client = new DatabaseClient({
    host: '127.0.0.1',
    port,
    user: 'postgres',
    database: 'postgres',
  })
  await client.connect()
  try {
    await client.query('create role heliograph login')
    await client.query('grant pg_monitor to heliograph')
    await client.query(
      "create database heliograph owner heliograph encoding 'UTF8' template template0",
    )
  } finally {
    await client.end()
  }
}
