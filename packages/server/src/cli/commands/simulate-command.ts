import { InvalidArgumentError, type Command } from 'commander'
import { createProgress, EXIT_CODES, printJson, printLine, type CommandIo } from '../command-io.ts'
import { explainSystemErrors } from '../explain-system-errors.ts'
import { parseShare, parseWhole } from '../parse-arguments.ts'

interface SimulateFlags {
  url: string
  secret: string
  devices: number
  seconds?: number
  caFile?: string
  host?: true
  seed: number
  breakPerMinute: number
  fixPerMinute: number
  json?: true
}

const DEVICES_MAX = 100_000
const SECONDS_MAX = 31_536_000

/** `heliograph simulate`: a fleet of osquery devices against a running service. */
export function addSimulateCommand(program: Command, io: CommandIo): void {
  program
    .command('simulate')
    .description('run simulated osquery devices against a service')
    .requiredOption('--url <url>', 'address of the service; plain HTTP for loopback only', parseUrl)
    .requiredOption('--secret <secret>', 'enrollment secret')
    .option('--devices <n>', 'how many devices', parseWhole(0, DEVICES_MAX), 30)
    .option('--seconds <n>', 'end after this time instead of on Ctrl-C', parseWhole(1, SECONDS_MAX))
    .option('--ca-file <path>', 'PEM of the authority that signed the certificate of the service')
    .option('--host', 'add the machine that this runs on as a device')
    .option('--seed <n>', 'the same seed makes the same devices', parseWhole(0, 2 ** 32 - 1), 1)
    .option('--break-per-minute <share>', 'chance of a device to get worse, 0 to 1', parseShare, 0)
    .option('--fix-per-minute <share>', 'chance of a fault to be mended, 0 to 1', parseShare, 0)
    .option('--json', 'print JSON')
    .action(async (flags: SimulateFlags) => {
      await runSimulation(flags, io)
    })
}

async function runSimulation(flags: SimulateFlags, io: CommandIo): Promise<void> {
  const { breakPerMinute, fixPerMinute } = flags
  // Loaded here only: other commands start faster without the tables of whole fleets.
  const { simulate } = await import('@heliograph/simulator')
  const progress = createProgress(io)
  const summary = await explainSystemErrors(() =>
    simulate(
      {
        url: flags.url,
        secret: flags.secret,
        count: flags.devices,
        durationMs: flags.seconds === undefined ? undefined : flags.seconds * 1_000,
        caFile: flags.caFile,
        includesHost: flags.host === true,
        fleet: {
          seed: flags.seed,
          ...(breakPerMinute + fixPerMinute > 0 ? { drift: { breakPerMinute, fixPerMinute } } : {}),
        },
      },
      { progress: (line) => progress.update(line), signal: io.signal },
    ),
  ).finally(() => progress.end())
  if (summary.statistics.nodes > 0 && summary.statistics.enrolled === 0) {
    io.stderr.write('No device could enroll: check the address and the enrollment secret.\n')
    io.setExitCode(EXIT_CODES.failed)
  }
  if (flags.json) {
    printJson(io, summary)
    return
  }
  const { statistics } = summary
  const { counters } = statistics
  printLine(io, `${statistics.enrolled} of ${statistics.nodes} devices enrolled at ${summary.url}.`)
  printLine(
    io,
    `${counters.requests} requests in ${(summary.durationMs / 1_000).toFixed(1)} s (${summary.requestsPerSecond} per second), ${counters.failures} refused, ${counters.unreachable} unanswered, p99 ${statistics.latencyMs.p99} ms.`,
  )
  printLine(
    io,
    `${counters.distributedReads} check-ins, ${counters.resultsAcknowledged} results and ${counters.linesAcknowledged} log lines taken by the service.`,
  )
}

/** An address that osquery would accept: it refuses plain HTTP, except that of this machine here. */
function parseUrl(text: string): string {
  const url = URL.parse(text)
  const isLoopback = url !== null && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)) return text
  throw new InvalidArgumentError('Give an https URL, or an http URL of this machine.')
}
