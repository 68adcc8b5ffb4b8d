/*
 * The real service in a process of its own, started as an operator starts it, on a data folder that is
 * thrown away. What a benchmark needs in its database is written before it starts, so that the service
 * finds it like any state of an earlier run.
 */
import { loadConfig, type Config } from '../src/app/config/load-config.ts'
import { findFreePort } from '../src/platform/net/find-free-port.ts'
import { openFoundation, type ServiceFoundation } from '../src/app/foundation.ts'
import { createTemporaryDataFolder } from './data-folder.ts'
import type { BenchRun } from './scenario.ts'
import { startServiceChild } from './service-child.ts'

export interface ServiceUnderTest {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** From the start of its process until it was ready. */
  readonly startedInMs: number
  /** The database of the running service. */
  readonly services: ServiceFoundation
}

export interface ServiceOptions {
  /** Settings beside address and data folder. */
  readonly environment?: Readonly<Record<string, string>>
  /** Writes what the benchmark needs, before the service starts. */
  prepare(services: ServiceFoundation): Promise<void>
  /** Changes the data folder while no database runs. */
  readonly prepareFolder?: (dataDir: string) => Promise<void>
}

/** Prepares a data folder and starts the service on it; both are gone when the run is cleaned up. */
export async function startServiceUnderTest(
  run: BenchRun,
  options: ServiceOptions,
): Promise<ServiceUnderTest> {
  const dataDir = await createTemporaryDataFolder(run)
  const port = await findFreePort('127.0.0.1')
  const environment = {
    ...options.environment,
    HELIOGRAPH_DATA_DIR: dataDir,
    HELIOGRAPH_PORT: String(port),
  }
  const config = loadConfig(environment)
  await prepareDatabase(config, options)
  await options.prepareFolder?.(dataDir)
  run.signal.throwIfAborted()
  const url = `http://127.0.0.1:${port}`
  const startMs = performance.now()
  const { pid } = await startServiceChild(run, environment)
  const startedInMs = performance.now() - startMs
  const services = await openFoundation(config, { purpose: 'command' })
  run.cleanup.add(() => services.close())
  return { url, port, pid, startedInMs, services }
}

async function prepareDatabase(config: Config, options: ServiceOptions): Promise<void> {
  const services = await openFoundation(config, { purpose: 'command' })
  try {
    await options.prepare(services)
  } finally {
    await services.close()
  }
}
