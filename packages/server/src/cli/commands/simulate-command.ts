import { InvalidArgumentError } from 'commander'
import { createProgress } from '../command-io.ts'
import { command } from '../command.ts'
import { explainSystemErrors } from '../explain-system-errors.ts'
import { flag, JSON_FLAG, option, parsedOption, wholeOption } from '../option.ts'
import { parseShare } from '../parse-arguments.ts'

const DEVICES_MAX = 100_000
const SECONDS_MAX = 31_536_000

/** `heliograph simulate`: a fleet of osquery devices against a running service. */
export const definition = command({
  name: 'simulate',
  description: 'run simulated osquery devices against a service',
  options: {
    url: parsedOption(
      '--url <url>',
      'address of the service; plain HTTP for loopback only',
      parseUrl,
    ).required(),
    secret: option('--secret <secret>', 'enrollment secret').required(),
    devices: wholeOption('--devices <n>', 'how many devices', DEVICES_MAX, 0).default(30),
    seconds: wholeOption('--seconds <n>', 'end after this time instead of on Ctrl-C', SECONDS_MAX),
    caFile: option(
      '--ca-file <path>',
      'PEM of the authority that signed the certificate of the service',
    ),
    nodeKeys: option(
      '--node-keys <path>',
      'where the node keys of the devices are kept between runs (default: a file per service below ~/.heliograph)',
    ),
    host: flag('--host', 'add the machine that this runs on as a device'),
    seed: wholeOption('--seed <n>', 'the same seed makes the same devices', 2 ** 32 - 1, 0).default(
      1,
    ),
    breakPerMinute: parsedOption(
      '--break-per-minute <share>',
      'chance of a device to get worse, 0 to 1',
      parseShare,
    ).default(0),
    fixPerMinute: parsedOption(
      '--fix-per-minute <share>',
      'chance of a fault to be mended, 0 to 1',
      parseShare,
    ).default(0),
    json: JSON_FLAG,
  },
  async run({ io, options }) {
    const { breakPerMinute, fixPerMinute } = options
    // The tables of whole fleets, which not even the help of this command needs.
    const { simulate, toNodeKeyPath } = await import('@heliograph/simulator')
    const progress = createProgress(io)
    const summary = await explainSystemErrors(() =>
      simulate(
        {
          url: options.url,
          secret: options.secret,
          count: options.devices,
          durationMs: options.seconds === undefined ? undefined : options.seconds * 1_000,
          caFile: options.caFile,
          nodeKeyFile: options.nodeKeys ?? toNodeKeyPath(options.url),
          includesHost: options.host === true,
          fleet: {
            seed: options.seed,
            ...(breakPerMinute + fixPerMinute > 0
              ? { drift: { breakPerMinute, fixPerMinute } }
              : {}),
          },
        },
        { progress: (line) => progress.update(line), signal: io.signal },
      ),
    ).finally(() => progress.end())
    const { nodes, enrolled, counters } = summary.statistics
    const isRefused = nodes > 0 && enrolled === 0
    if (isRefused) {
      const { failures, unreachable } = counters
      const isAway = unreachable > 0 && unreachable === failures
      io.stderr.write(
        isAway
          ? 'The service does not answer: check that it runs, and the address.\n'
          : 'No device could enroll: check the address and the enrollment secret.\n',
      )
    }
    return { summary, isRefused }
  },
  json: ({ summary }) => summary,
  text({ summary: { url, durationMs, requestsPerSecond, statistics } }) {
    const { counters, enrolled, nodes, latencyMs } = statistics
    const refused = counters.failures - counters.unreachable
    return [
      `${enrolled} of ${nodes} devices enrolled at ${url}.`,
      `${counters.requests} requests in ${(durationMs / 1_000).toFixed(1)} s (${requestsPerSecond} per second), ${refused} refused, ${counters.unreachable} unanswered, p99 ${latencyMs.p99} ms.`,
      `${counters.distributedReadsAcknowledged} check-ins, ${counters.resultsAcknowledged} results and ${counters.linesAcknowledged} log lines taken by the service.`,
    ]
  },
  isFailed: ({ isRefused }) => isRefused,
})

/** An address that osquery would accept: it refuses plain HTTP, except that of this machine here. */
function parseUrl(text: string): string {
  const url = URL.parse(text)
  const isLoopback = url !== null && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)) return text
  throw new InvalidArgumentError('Give an https URL, or an http URL of this machine.')
}
