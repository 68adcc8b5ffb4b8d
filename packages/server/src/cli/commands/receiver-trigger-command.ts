import { trigger } from '@heliograph/receiver/cli'
import { ConfigError } from '../../app/config/load-config.ts'
import { command } from '../command.ts'
import { JSON_FLAG, option } from '../option.ts'
import { explainReceiverFailures } from './receiver-failures.ts'
import { ALLOW_HTTP, credentialOptions, readCredential } from './receiver-flags.ts'

/** `heliograph receiver trigger`. */
export const receiverTriggerCommand = command({
  name: 'trigger',
  description:
    'ask a transmitter for a verification event; `devices simulate-change` changes a device',
  options: {
    issuer: option(
      '--issuer <url>',
      'the transmitter; its discovery document names the endpoint',
    ).required(),
    stream: option('--stream <id>', 'the stream (`stream_id`)').required(),
    state: option('--state <text>', 'what the event shall carry back; random without it'),
    email: option('--email <email>', 'who asks, where the transmitter wants to know'),
    allowHttp: ALLOW_HTTP,
    json: JSON_FLAG,
    ...credentialOptions('the Authorization header to ask with'),
  },
  run: ({ io, options: flags }) =>
    explainReceiverFailures(async () => {
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
    }),
})
