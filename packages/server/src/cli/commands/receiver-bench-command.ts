import { bench } from '@heliograph/receiver/cli'
import { createProgress, EXIT_CODES } from '../command-io.ts'
import { command } from '../command.ts'
import { parsedOption } from '../option.ts'
import { parseWhole } from '../parse-arguments.ts'
import { explainReceiverFailures } from './receiver-failures.ts'
import { EVENTS_MAX, readReceiving, RECEIVING_OPTIONS } from './receiver-flags.ts'

const SECONDS_MAX = 24 * 60 * 60

/** `heliograph receiver bench`. Exit code 1 when no event came. */
export const receiverBenchCommand = command({
  name: 'bench',
  description:
    'receive and verify events for some seconds; tell events per second, latency and cost',
  options: {
    ...RECEIVING_OPTIONS,
    seconds: parsedOption(
      '--seconds <n>',
      'how long events are received',
      parseWhole(1, SECONDS_MAX),
    ).default(10),
    events: parsedOption(
      '--events <n>',
      'end earlier, after this many events',
      parseWhole(1, EVENTS_MAX),
    ),
  },
  run: ({ io, options: flags }) =>
    explainReceiverFailures(async () => {
      const progress = createProgress(io)
      try {
        const report = await bench({
          ...(await readReceiving(flags, flags.events)),
          seconds: flags.seconds,
          output: { write: (text) => (progress.end(), io.stdout.write(text)) },
          diagnostics: { write: (text) => (progress.end(), io.stderr.write(text)) },
          onReady: (url) => {
            const verb = flags.pollUrl === undefined ? 'listening on' : 'polling'
            io.stderr.write(`${verb} ${url}\n`)
          },
          onProgress: (events, seconds) => {
            progress.update(`${Math.floor(seconds)} of ${flags.seconds} s, ${events} events`)
          },
          signal: io.signal,
        })
        io.setExitCode(report.events > 0 ? EXIT_CODES.ok : EXIT_CODES.failed)
      } finally {
        progress.end()
      }
    }),
})
