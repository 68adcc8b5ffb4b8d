import { SETTINGS } from '../../app/config/settings.ts'
import { toStreamHealth } from '../../signals/diagnosis/health/stream-health.ts'
import { getStream, parseStreamReference } from '../../signals/streams/stream-store.ts'
import { toTable } from '../command-io.ts'
import { databaseCommand } from '../command.ts'
import { option } from '../option.ts'
import { COMMAND_LINE_ORIGIN, settingOption } from '../run-command.ts'

/** `heliograph streams self-test`: exit code 1 when the receiver judged an event wrongly. */
export const selfTestCommand = databaseCommand({
  name: 'self-test',
  description: 'push a good event and a dozen bad ones to a receiver and judge its answers',
  options: {
    stream: option('--stream <id>', 'the stream, by its id or stream id').required(),
    allowedTargets: settingOption(SETTINGS.allowedTargets),
    extraCa: settingOption(SETTINGS.extraCa),
  },
  async run({ options, services }) {
    // What sends and signs, which the other commands of streams do not need.
    const { openOutbound } = await import('../../app/outbound.ts')
    const { createSigningPart } = await import('../../signals/signing-part.ts')
    const { runSelfTest } = await import('../../signals/diagnosis/self-test/run-self-test.ts')
    const { toSelfTestJson } = await import('../../signals/diagnosis/self-test/self-test-json.ts')
    const { client } = await openOutbound(services.config)
    const signing = createSigningPart(services, services.config)
    try {
      await signing.start()
      const { keyRing } = signing
      const outcome = await runSelfTest(
        COMMAND_LINE_ORIGIN,
        (change) => getStream(change.tx, parseStreamReference(options.stream), { isLocked: true }),
        { ...services, keyRing, client },
      )
      return toSelfTestJson(outcome)
    } finally {
      await client.close()
      await signing.stop()
    }
  },
  text: ({ cases }) =>
    toTable(cases, {
      CASE: ({ name }) => name,
      VERDICT: ({ verdict }) => verdict,
      STATUS: ({ status }) => String(status ?? '-'),
      ERROR: (each) => each.error_code ?? '-',
      ADVICE: ({ advice }) => advice,
    }),
  isFailed: ({ passed }) => !passed,
})

/** `heliograph streams health`. */
export const healthCommand = databaseCommand({
  name: 'health <stream>',
  description: 'show what waits, how long deliveries took and what went wrong last',
  run: async ({ args, services: { clock, db } }) =>
    toStreamHealth(db, await getStream(db, parseStreamReference(args.stream)), clock.now()),
  text: (health) => {
    const { queue, last_hour: hour } = health
    return [
      `${health.state}, ${health.status}, circuit ${health.circuit}`,
      `${queue.count} waiting, ${health.dead_letters.count} dead letters`,
      `${hour.count} delivered in the last hour, p50 ${hour.p50_ms ?? '-'} ms, p99 ${hour.p99_ms ?? '-'} ms`,
      `Last failure: ${health.last_failure ?? 'none'}`,
    ]
  },
})
