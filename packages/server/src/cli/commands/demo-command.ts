import type { Command } from 'commander'
import { EXIT_CODES, type CommandIo } from '../command-io.ts'
import { DemoError } from '../demo/demo-error.ts'
import { parseWhole } from '../parse-arguments.ts'

interface DemoFlags {
  seconds?: number
  devices: number
  port?: number
  dataDir?: string
  json?: true
}

const DEVICES_MAX = 1_000
const SECONDS_MAX = 604_800

/** `heliograph demo`: the service, devices and receivers on this machine, to watch and to try. */
export function addDemoCommand(program: Command, io: CommandIo): void {
  program
    .command('demo')
    .description('run the service with simulated devices, this machine and two receivers')
    .option('--seconds <n>', 'end by itself after this time', parseWhole(1, SECONDS_MAX))
    .option('--devices <n>', 'how many simulated devices', parseWhole(1, DEVICES_MAX), 30)
    .option(
      '--port <n>',
      'port of the service (default: 8080, or a free one)',
      parseWhole(1, 65_535),
    )
    .option('--data-dir <folder>', 'keep the data in this folder (default: a temporary one)')
    .option('--json', 'print JSON lines instead of the view')
    .action(async (flags: DemoFlags) => {
      io.setExitCode(await run(flags, io))
    })
}

async function run(flags: DemoFlags, io: CommandIo): Promise<number> {
  // Loaded here only: other commands start faster without the tables of whole fleets.
  const { runDemo } = await import('../demo/run-demo.ts')
  try {
    const { isComplete } = await runDemo(
      {
        deviceCount: flags.devices,
        seconds: flags.seconds,
        port: flags.port,
        dataDir: flags.dataDir,
        isJson: flags.json === true,
      },
      io,
    )
    if (isComplete || flags.seconds === undefined) return EXIT_CODES.ok
    io.stderr.write('Not every receiver verified an event.\n')
    return EXIT_CODES.failed
  } catch (error) {
    if (!(error instanceof DemoError)) throw error
    io.stderr.write(`${error.message}\n`)
    return EXIT_CODES.failed
  }
}
