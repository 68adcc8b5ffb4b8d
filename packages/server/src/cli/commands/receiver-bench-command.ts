import type { Command } from 'commander'
import { bench } from '@heliograph/receiver/cli'
import { createProgress, EXIT_CODES, type CommandIo } from '../command-io.ts'
import { parseWhole } from '../parse-arguments.ts'
import { explainReceiverFailures } from './receiver-failures.ts'
import {
  EVENTS_MAX,
  readReceiving,
  withSourceFlags,
  type ReceivingFlags,
} from './receiver-flags.ts'

interface BenchFlags extends ReceivingFlags {
  seconds: number
}

const SECONDS_MAX = 24 * 60 * 60

/** `heliograph receiver bench`. Exit code 1 when no event came. */
export function addReceiverBench(receiver: Command, io: CommandIo): void {
  withSourceFlags(receiver.command('bench'))
    .description(
      'receive and verify events for some seconds; tell events per second, latency and cost',
    )
    .option('--seconds <n>', 'how long events are received', parseWhole(1, SECONDS_MAX), 10)
    .option('--events <n>', 'end earlier, after this many events', parseWhole(1, EVENTS_MAX))
    .action(async (flags: BenchFlags) => {
      const progress = createProgress(io)
      await explainReceiverFailures(async () => {
        try {
          const report = await bench({
            ...(await readReceiving(flags)),
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
      })
    })
}
