/*
 * How long the service takes from its start to its readiness, as an operator starts a checkout, on a data folder that
 * it has served before; beside it a program of Node.js that does nothing. CPU time of all processes, the database
 * included.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../src/platform/net/find-free-port.ts'
import { createTemporaryDataFolder } from './data-folder.ts'
import { readTreesCpuMs } from './process-cpu.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { median } from './statistics.ts'

const STARTS = 5
const READY = 'Heliograph is ready'
const READY_MS_TARGET = 1_000
const PROGRAM = fileURLToPath(new URL('../bin/heliograph.mjs', import.meta.url))

export const start: Scenario = {
  title: 'Starts of the service on a folder that it knows',
  run: measure,
}

interface Start {
  readonly readyMs: number
  readonly cpuMs: number
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  const dataDir = await createTemporaryDataFolder(run)
  run.progress('first start')
  const first = await startOnce(run, dataDir)
  const starts: Start[] = []
  const empty: number[] = []
  for (let turn = 1; turn <= STARTS; turn += 1) {
    run.progress(`start ${turn} of ${STARTS}`)
    starts.push(await startOnce(run, dataDir))
    empty.push(await runEmptyProgram())
  }
  const readyMs = median(starts.map((one) => one.readyMs))
  return [
    {
      what: 'start to readiness, warm',
      target: `<= ${READY_MS_TARGET / 1000} s`,
      measured: { value: readyMs / 1000, unit: 's' },
      limit: { what: 'empty program', value: median(empty) / 1000, unit: 's' },
      ratio: undefined,
      isReached: readyMs <= READY_MS_TARGET,
      details: {
        starts: STARTS,
        cpu_ms: median(starts.map(({ cpuMs }) => cpuMs)),
        first_start_ms: first.readyMs,
        first_start_cpu_ms: first.cpuMs,
      },
    },
  ]
}

async function startOnce(run: BenchRun, dataDir: string): Promise<Start> {
  run.signal.throwIfAborted()
  const port = await findFreePort('127.0.0.1')
  const { PATH, HOME, TMPDIR } = process.env
  const settings = { HELIOGRAPH_DATA_DIR: dataDir, HELIOGRAPH_PORT: String(port) }
  const startMs = performance.now()
  const child = spawn(process.execPath, [...process.execArgv, PROGRAM, 'serve'], {
    env: { PATH, HOME, TMPDIR, ...settings },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  const stop = () => child.kill('SIGTERM')
  process.once('exit', stop)
  run.signal.addEventListener('abort', stop)
  try {
    await printsReady(child)
    const readyMs = performance.now() - startMs
    return { readyMs, cpuMs: await readTreesCpuMs([child.pid ?? 0]) }
  } finally {
    const ended = hasEnded(child) ? undefined : once(child, 'exit')
    stop()
    await ended
    process.off('exit', stop)
    run.signal.removeEventListener('abort', stop)
  }
}

function printsReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      if (printed.includes(READY)) resolve()
    })
    child.once('exit', (code) =>
      reject(new Error(`the service ended with ${code ?? 'a signal'}: ${printed}`)),
    )
  })
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

async function runEmptyProgram(): Promise<number> {
  const startMs = performance.now()
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit')
  return performance.now() - startMs
}
