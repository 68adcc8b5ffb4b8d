import type { Command } from 'commander'
import { bench } from '@heliograph/receiver/cli'
import { createProgress, EXIT_CODES, type CommandIo } from '../command-io.ts'
import { parseWhole } from '../parse-arguments.ts'
import { explainReceiverFailures } from './receiver-failures.ts'
import { readSource, withSourceFlags, type KeyFlags, type SourceFlags } from './receiver-flags.ts'

interface BenchFlags extends KeyFlags, SourceFlags {
  issuer: string
  audience: string[]
  seconds: number
  events?: number
  allowHttp?: true
}

const SECONDS_MAX = 24 * 60 * 60
const EVENTS_MAX = 1_000_000_000

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
            source: await readSource(flags),
            issuer: flags.issuer,
            audience: flags.audience,
            jwks: flags.jwks,
            isHttpAllowed: flags.allowHttp === true,
            isJson: flags.json === true,
            seconds: flags.seconds,
            ...(flags.events === undefined ? {} : { eventsMax: flags.events }),
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
