import type { Command } from 'commander'
import { openOutbound } from '../../app/outbound.ts'
import { SETTINGS, toFlag } from '../../app/config/settings.ts'
import { toStreamHealth } from '../../signals/diagnosis/health/stream-health.ts'
import { runSelfTest } from '../../signals/diagnosis/self-test/run-self-test.ts'
import { toSelfTestJson } from '../../signals/diagnosis/self-test/self-test-routes.ts'
import { createSigningPart } from '../../signals/signing-part.ts'
import { getStream } from '../../signals/streams/stream-store.ts'
import { EXIT_CODES, printJson, printLine, printTable, type CommandIo } from '../command-io.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'

/** `heliograph streams self-test|health`. */
export function addStreamCheckCommands(streams: Command, io: CommandIo): void {
  addSelfTest(streams, io)
  addHealth(streams, io)
}

function addSelfTest(streams: Command, io: CommandIo): void {
  const command = withDatabaseFlags(streams.command('self-test'))
    .description('push a good event and a dozen bad ones to a receiver and judge its answers')
    .requiredOption('--stream <id>', 'the stream, by its id or stream id')
  for (const setting of [SETTINGS.allowedTargets, SETTINGS.extraCa]) {
    command.option(`${toFlag(setting.env)} <value>`, `${setting.description} [${setting.env}]`)
  }
  command.action(async (options: { stream: string; json?: true }, self: Command) => {
    await runWithServices(io, self, async (services) => {
      const outbound = await openOutbound(services.config)
      const signing = createSigningPart(services, services.config, () => undefined)
      try {
        await signing.start()
        const { keyRing } = signing
        const outcome = await runSelfTest(
          COMMAND_LINE_ORIGIN,
          (change) => getStream(change.tx, options.stream, { isLocked: true }),
          { ...services, keyRing, client: outbound.client },
        )
        const result = toSelfTestJson(outcome)
        if (options.json) printJson(io, result)
        else {
          printTable(
            io,
            ['CASE', 'VERDICT', 'STATUS', 'ERROR', 'ADVICE'],
            result.cases.map((each) => [
              each.name,
              each.verdict,
              String(each.status ?? '-'),
              each.error_code ?? '-',
              each.advice,
            ]),
          )
        }
        if (!result.passed) io.setExitCode(EXIT_CODES.failed)
      } finally {
        await outbound.client.close()
        await signing.stop()
      }
    })
  })
}

function addHealth(streams: Command, io: CommandIo): void {
  withDatabaseFlags(streams.command('health <stream>'))
    .description('show what waits, how long deliveries took and what went wrong last')
    .action(async (id: string, options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ clock, db }) => {
        const health = await toStreamHealth(db, await getStream(db, id), clock.now())
        if (options.json) {
          printJson(io, health)
          return
        }
        const { queue, last_hour: hour } = health
        printLine(io, `${health.state}, ${health.status}, circuit ${health.circuit}`)
        printLine(io, `${queue.count} waiting, ${health.dead_letters.count} dead letters`)
        printLine(
          io,
          `${hour.count} delivered in the last hour, p50 ${hour.p50_ms ?? '-'} ms, p99 ${hour.p99_ms ?? '-'} ms`,
        )
        printLine(io, `Last failure: ${health.last_failure ?? 'none'}`)
      })
    })
}
