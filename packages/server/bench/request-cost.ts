/*
 * What a request costs the service and PostgreSQL together, under a closed loop of the same requests; and what an
 * answer as long costs a bare server.
 */
import { startChildProgram, type ChildProgram } from './child-program.ts'
import type { EchoAnswer } from './echo-program.ts'
import type { LoadAnswer, LoadCommand, LoadRequest } from './load-program.ts'
import { readProcessCpuMs } from './process-cpu.ts'
import type { BenchRun } from './scenario.ts'
import { toCpuMs, type ServiceCost } from './service-cost.ts'

/** A program that sends requests. */
export type LoadGenerator = ChildProgram<LoadCommand, LoadAnswer>

/** The requests of one phase. */
interface RequestLoad {
  readonly port: number
  readonly requests: readonly LoadRequest[]
  readonly connections: number
  readonly measureMs: LoadCommand['measureMs']
}

/** What one request of a phase cost. */
export interface RequestCost {
  readonly load: LoadAnswer
  readonly cpuMs: number
  readonly serviceCpuMs: number
  readonly databaseCpuMs: number
  readonly walBytes: number
}

export function startLoadGenerator(run: BenchRun): LoadGenerator {
  return startChildProgram<LoadCommand, LoadAnswer>(run, 'load-program')
}

/** Sends requests for the time of a phase; rejects when one is refused. */
export async function sendLoad(
  run: BenchRun,
  generator: LoadGenerator,
  load: RequestLoad,
): Promise<LoadAnswer> {
  run.signal.throwIfAborted()
  generator.send({ type: 'load', warmUpMs: 0, ...load })
  const answer = await generator.next('done')
  if (answer.failures > 0) throw new Error(`${answer.failures} requests were refused`)
  return answer
}

/** Sends requests to the service and reads what each of them cost. */
export async function measureRequestCost(
  run: BenchRun,
  generator: LoadGenerator,
  readCost: () => Promise<ServiceCost>,
  load: RequestLoad,
): Promise<RequestCost> {
  const before = await readCost()
  const answer = await sendLoad(run, generator, load)
  const after = await readCost()
  const each = (read: (cost: ServiceCost) => number) =>
    (read(after) - read(before)) / answer.answered
  return {
    load: answer,
    cpuMs: each(toCpuMs),
    serviceCpuMs: each(({ serviceCpuMs }) => serviceCpuMs),
    databaseCpuMs: each(({ databaseCpuMs }) => databaseCpuMs),
    walBytes: each(({ walBytes }) => walBytes),
  }
}

/** CPU time that a bare server takes for an answer of so many bytes to such a request. */
export async function measureEchoCpuMs(
  run: BenchRun,
  generator: LoadGenerator,
  answerBytes: number,
  { requests, connections, measureMs }: Omit<RequestLoad, 'port'>,
): Promise<number> {
  const echo = startChildProgram<never, EchoAnswer>(run, 'echo-program', [String(answerBytes)])
  try {
    const { port } = await echo.next('listening')
    const before = await readProcessCpuMs(echo.pid)
    const { answered } = await sendLoad(run, generator, { port, requests, connections, measureMs })
    const after = await readProcessCpuMs(echo.pid)
    return ((after ?? 0) - (before ?? 0)) / answered
  } finally {
    await echo.stop()
  }
}
