/*
 * A process of the service, started as an operator starts it.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import type { BenchRun } from './scenario.ts'

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 20_000
const POLL_MS = 50
const LOG_TAIL_LENGTH = 2_000

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGTERM')
})

/** A process of the service. */
export interface ServiceChild {
  readonly pid: number
  stop(): Promise<void>
}

/** Starts a process with these settings; resolves when it is ready. It is stopped when the run is cleaned up. */
export async function startServiceChild(
  run: BenchRun,
  settings: Readonly<Record<string, string>> & {
    readonly HELIOGRAPH_DATA_DIR: string
    readonly HELIOGRAPH_PORT: string
  },
): Promise<ServiceChild> {
  const url = `http://127.0.0.1:${settings.HELIOGRAPH_PORT}`
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
  running.add(child)
  child.once('exit', () => running.delete(child))
  run.cleanup.add(() => stopProcess(child))
  await waitUntilReady(run, child, url, logPath)
  return { pid: child.pid ?? 0, stop: () => stopProcess(child) }
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
