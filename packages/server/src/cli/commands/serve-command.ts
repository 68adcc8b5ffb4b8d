import { beginService } from '../../app/begin-service.ts'
import { findSecretFlags, loadConfig } from '../../app/config/load-config.ts'
import { SETTINGS, type SettingDefinition } from '../../app/config/settings.ts'
import { createLogger } from '../../platform/logger.ts'
import { untilAborted } from '../command-io.ts'
import { command } from '../command.ts'
import { explainSystemErrors } from '../explain-system-errors.ts'
import { readFlags, SECRET_FLAG_WARNING, settingOptions } from '../run-command.ts'

/** `heliograph serve`: runs until SIGINT or SIGTERM. */
export const definition = command({
  name: 'serve',
  description: 'run the service',
  options: Object.fromEntries(
    Object.values<SettingDefinition>(SETTINGS)
      .flatMap(settingOptions)
      .map((spec) => [spec.option.attributeName(), spec]),
  ),
  async run({ io, parsed }) {
    const flags = readFlags(parsed)
    const config = loadConfig(io.environment, flags)
    const log = createLogger(config.logLevel, io.stderr)
    for (const flag of findSecretFlags(flags)) log.warn({ flag }, `${flag} ${SECRET_FLAG_WARNING}`)
    const service = await explainSystemErrors(() => beginService(config, log))
    // Not on the standard error, where every line is one of the log.
    const documentation = config.roles.includes('api') ? ' (documentation at /docs)' : ''
    io.stdout.write(`Heliograph is ready at ${service.baseUrl}${documentation}\n`)
    const setUpUrl = await service.findSetUpUrl()
    if (setUpUrl !== undefined) {
      io.stdout.write(
        `No admin can sign in yet. This link makes the first one, once and within 24 hours:\n${setUpUrl}\n`,
      )
    }
    await untilAborted(io.interruption)
    log.info('stopping')
    await service.stop()
  },
})
