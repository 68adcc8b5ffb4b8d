/*
 * The real service in a process of its own, started as an operator starts it, on a data folder that is
 * thrown away. What a benchmark needs in its database is written before it starts, so that the service
 * finds it like any state of an earlier run.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import { loadConfig, type Config } from '../src/app/config/load-config.ts'
import { findFreePort } from '../src/platform/net/find-free-port.ts'
import { openFoundation, type ServiceFoundation } from '../src/app/foundation.ts'
import { createTemporaryDataFolder } from './data-folder.ts'
import type { BenchRun } from './scenario.ts'

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

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 20_000
const POLL_MS = 50
const LOG_TAIL_LENGTH = 2_000

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
  const pid = await startProcess(run, environment, url)
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

async function startProcess(
  run: BenchRun,
  settings: Readonly<Record<string, string>> & { readonly HELIOGRAPH_DATA_DIR: string },
  url: string,
): Promise<number> {
  const logPath = join(settings.HELIOGRAPH_DATA_DIR, 'service.log')
  const log = await open(logPath, 'a')
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
  const { PATH, HOME, TMPDIR, NODE_OPTIONS } = process.env
  const child = spawn(process.execPath, [...process.execArgv, main, 'serve'], {
    // Nothing of the operator's own settings may reach it, their database least of all.
    env: { PATH, HOME, TMPDIR, NODE_OPTIONS, ...settings },
    stdio: ['ignore', log.fd, log.fd],
    // A Ctrl-C is for the benchmark, which then stops the service in order.
    detached: true,
  })
  await log.close()
  const killWithParent = () => child.kill('SIGTERM')
  process.once('exit', killWithParent)
  run.cleanup.add(async () => {
    await stopProcess(child)
    process.off('exit', killWithParent)
  })
  await waitUntilReady(run, child, url, logPath)
  return child.pid ?? 0
}

async function waitUntilReady(
  run: BenchRun,
  child: ChildProcess,
  url: string,
  logPath: string,
): Promise<void> {
  const endMs = performance.now() + START_TIMEOUT_MS
  while (!(await isReady(url))) {
    run.signal.throwIfAborted()
    if (hasEnded(child) || performance.now() > endMs) {
      const tail = (await readFile(logPath, 'utf8')).slice(-LOG_TAIL_LENGTH)
      throw new Error(`The service did not get ready. The end of its log:\n${tail}`)
    }
    await sleep(POLL_MS)
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${url}/readyz`)
    await body.dump()
    return statusCode === 200
  } catch {
    return false
  }
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await ended
  clearTimeout(timer)
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
