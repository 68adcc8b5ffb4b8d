/*
 * What an answer costs the machine itself when several processes give it: bare servers, each loaded as one alone would
 * be, without a database or anything in common. What they cost more together than one alone is the machine's.
 */
import { READ_PATH } from './bench-agents.ts'
import { startChildProgram } from './child-program.ts'
import type { EchoAnswer } from './echo-program.ts'
import { readProcessCpuMs } from './process-cpu.ts'
import { sendLoad, type LoadGenerator } from './request-cost.ts'
import type { BenchRun, Measurement } from './scenario.ts'

const BODY = JSON.stringify({ node_key: 'x'.repeat(32) })
const ANSWER_BYTES = 40

/** How the servers are loaded. */
export interface BareLoad {
  readonly perProcess: number
  readonly connections: number
  /** One for each server at least. */
  readonly generators: readonly LoadGenerator[]
}

/** One server comes first and last, as with the service. */
export async function measureBareAnswers(
  run: BenchRun,
  sizes: readonly number[],
  load: BareLoad,
): Promise<Measurement[]> {
  const costs: { readonly size: number; readonly cpuMs: number }[] = []
  for (const size of sizes) {
    run.progress(`${size} bare servers`)
    costs.push({ size, cpuMs: await measureAnswerMs(run, size, load) })
  }
  const ones = costs.filter(({ size }) => size === 1)
  const ofOne = ones.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / ones.length
  return costs.map(({ size, cpuMs }) => ({
    what: `CPU time of an answer of a bare server, ${size} of them`,
    target: '-',
    measured: { value: cpuMs, unit: 'ms' },
    limit: { what: 'one bare server', value: ofOne, unit: 'ms' },
    ratio: cpuMs / ofOne,
    isReached: true,
    details: {},
  }))
}

async function measureAnswerMs(run: BenchRun, size: number, load: BareLoad): Promise<number> {
  const servers = Array.from({ length: size }, () =>
    startChildProgram<never, EchoAnswer>(run, 'echo-program', [String(ANSWER_BYTES)]),
  )
  const readCpuMs = async () => {
    const all = await Promise.all(servers.map(({ pid }) => readProcessCpuMs(pid)))
    return all.reduce<number>((sum, cpuMs) => sum + (cpuMs ?? 0), 0)
  }
  try {
    const ports = await Promise.all(
      servers.map(async (server) => (await server.next('listening')).port),
    )
    await sendToEach(run, ports, load)
    const before = await readCpuMs()
    await sendToEach(run, ports, load)
    return ((await readCpuMs()) - before) / (load.perProcess * size)
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}

async function sendToEach(
  run: BenchRun,
  ports: readonly number[],
  { generators, perProcess, connections }: BareLoad,
): Promise<void> {
  const requests = Array.from({ length: perProcess }, () => ({ path: READ_PATH, body: BODY }))
  await Promise.all(
    ports.map(async (port, place) => {
      const generator = generators[place]
      if (generator === undefined) throw new Error('there are fewer generators than servers')
      await sendLoad(run, generator, { port, requests, connections, measureMs: 'once' })
    }),
  )
}
