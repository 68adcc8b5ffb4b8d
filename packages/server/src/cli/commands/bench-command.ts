import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import type { CommandIo } from '../command-io.ts'

/** What `bench/bench-command.ts` exports; the benchmarks are part of a checkout and are not shipped. */
interface BenchModule {
  addBenchCommand(program: Command, io: CommandIo): void
}

const BENCH_MODULE = new URL('../../../bench/bench-command.ts', import.meta.url)

/** Adds `heliograph bench` where its sources are. */
export async function addBenchCommand(program: Command, io: CommandIo): Promise<void> {
  if (!existsSync(fileURLToPath(BENCH_MODULE))) return
  const module = (await import(BENCH_MODULE.href)) as BenchModule
  module.addBenchCommand(program, io)
}
