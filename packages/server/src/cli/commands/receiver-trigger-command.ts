import type { Command } from 'commander'
import { trigger } from '@heliograph/receiver/cli'
import { ConfigError } from '../../app/config/load-config.ts'
import type { CommandIo } from '../command-io.ts'
import { explainReceiverFailures } from './receiver-failures.ts'
import { readCredential, withCredentialFlags, type CredentialFlags } from './receiver-flags.ts'

interface TriggerFlags extends CredentialFlags {
  issuer: string
  stream: string
  state?: string
  email?: string
  json?: true
}

/** `heliograph receiver trigger`. */
export function addReceiverTrigger(receiver: Command, io: CommandIo): void {
  withCredentialFlags(
    receiver
      .command('trigger')
      .description(
        'ask a transmitter for a verification event; `devices simulate-change` changes a device',
      )
      .requiredOption(
        '--issuer <url>',
        'the transmitter; its discovery document names the endpoint',
      )
      .requiredOption('--stream <id>', 'the stream (`stream_id`)')
      .option('--state <text>', 'what the event shall carry back; random without it')
      .option('--email <email>', 'who asks, where the transmitter wants to know')
      .option('--allow-http', 'allow plain HTTP beyond this machine')
      .option('--json', 'print JSON'),
    'the Authorization header to ask with',
  ).action(async (flags: TriggerFlags) => {
    await explainReceiverFailures(async () => {
      const authorization = await readCredential(flags)
      if (authorization === undefined) {
        throw new ConfigError(['Give --authorization, --authorization-file or --client-id.'])
      }
      await trigger({
        issuer: flags.issuer,
        streamId: flags.stream,
        authorization,
        state: flags.state,
        ...(flags.email === undefined ? {} : { members: { email: flags.email } }),
        isHttpAllowed: flags.allowHttp === true,
        isJson: flags.json === true,
        output: io.stdout,
        signal: io.signal,
      })
    })
  })
}
