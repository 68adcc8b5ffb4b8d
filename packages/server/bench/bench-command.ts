import { writeFile } from 'node:fs/promises'
import { InvalidArgumentError } from 'commander'
import type { ScenarioReport } from './run-benchmarks.ts'
import type { Measurement, Quantity } from './scenario.ts'
import { SCENARIOS, type ScenarioName } from './scenarios.ts'
import {
  createProgress,
  EXIT_CODES,
  printLine,
  toTableLines,
  type CommandIo,
} from '../src/cli/command-io.ts'
import { command } from '../src/cli/command.ts'
import { option, parsedOption } from '../src/cli/option.ts'
import { parseWhole } from '../src/cli/parse-arguments.ts'

const SECONDS_DEFAULT = 10
/** Above this, rates and tails are no longer the service's alone. */
const OTHERS_SHARE_MAX = 0.05
const NAMES = Object.keys(SCENARIOS) as ScenarioName[]

/** `heliograph bench`: measures on databases of its own; never fails because something is slow. */
export const definition = command({
  name: 'bench',
  description: 'measure this machine and the service on it, with data that is thrown away',
  options: {
    only: parsedOption(
      '--only <names>',
      `only these, separated by commas (default: all): ${NAMES.join(', ')}`,
      parseOnly,
    ),
    json: option(
      '--json <file>',
      'write the numbers to a file as JSON; "-" prints them instead of tables',
    ),
    seconds: parsedOption('--seconds <n>', 'how long one phase lasts', parseWhole(1, 600)).default(
      SECONDS_DEFAULT,
    ),
    scale: parsedOption(
      '--scale <percent>',
      'how much of the full data the lists are measured with',
      parseWhole(1, 100),
    ).default(100),
  },
  async run({ io, options }) {
    // What the help of this command does not need.
    const { describeMachine, runBenchmarks } = await import('./run-benchmarks.ts')
    const machine = describeMachine()
    const isJsonOnly = options.json === '-'
    const reports: ScenarioReport[] = []
    const progress = createProgress(io)
    if (!isJsonOnly) {
      printLine(
        io,
        `${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, Node.js ${machine.node}, load average ${machine.load_average}`,
      )
    }
    try {
      await runBenchmarks({
        scenarios: options.only ?? NAMES,
        seconds: options.seconds,
        scale: options.scale / 100,
        signal: io.signal,
        progress: (text) => progress.update(text),
        report: (report) => {
          progress.end()
          reports.push(report)
          if (!isJsonOnly) printReport(io, report)
        },
      })
    } catch (error) {
      progress.end()
      if (!io.signal.aborted) throw error
      io.stderr.write('Stopped; everything that was started has been removed.\n')
      io.setExitCode(EXIT_CODES.failed)
    }
    await writeJson(io, options.json, { machine, reports })
  },
})

function parseOnly(text: string): readonly ScenarioName[] {
  return text.split(',').map((part) => {
    const name = NAMES.find((each) => each === part.trim())
    if (name !== undefined) return name
    throw new InvalidArgumentError(`Give some of ${NAMES.join(', ')}, separated by commas.`)
  })
}

function printReport(io: CommandIo, report: ScenarioReport): void {
  const { title, seconds, othersShare, measurements } = report
  printLine(io, '')
  const others =
    othersShare === undefined
      ? ''
      : `; other programs used ${toPercent(othersShare)} of the machine`
  printLine(io, `${title} (${seconds} s${others})`)
  if (othersShare !== undefined && othersShare > OTHERS_SHARE_MAX) {
    printLine(io, 'The machine was not quiet: the numbers tell about the other programs too.')
  }
  const headings = ['WHAT', 'TARGET', 'MEASURED', 'LIMIT', 'RATIO', 'REACHED']
  for (const line of toTableLines(headings, measurements.map(toRow))) printLine(io, line)
  for (const { what, details } of measurements) {
    const numbers = Object.entries(details).map(([name, value]) => `${name} ${round(value)}`)
    if (numbers.length > 0) printLine(io, `  ${what}: ${numbers.join(', ')}`)
  }
}

function toRow({ what, target, measured, limit, ratio, isReached }: Measurement): string[] {
  return [
    what,
    target,
    toText(measured),
    limit === undefined ? '-' : `${toText(limit)} (${limit.what})`,
    ratio === undefined ? '-' : toPercent(ratio),
    isReached ? 'yes' : 'no',
  ]
}

function toText({ value, unit }: Quantity): string {
  return unit.startsWith('/') ? `${round(value)}${unit}` : `${round(value)} ${unit}`
}

function toPercent(share: number): string {
  return `${Math.round(share * 100)} %`
}

function round(value: number): number {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 1 ? 1 : 3
  return Number(value.toFixed(digits))
}

async function writeJson(io: CommandIo, file: string | undefined, value: object): Promise<void> {
  if (file === undefined) return
  const text = `${JSON.stringify(value, null, 2)}\n`
  if (file === '-') io.stdout.write(text)
  else await writeFile(file, text)
}
