import type { Command } from 'commander'
import { loadConfig } from '../../app/config/load-config.ts'
import { SETTINGS, toFlag, type SettingDefinition } from '../../app/config/settings.ts'
import { createLogger } from '../../platform/logger.ts'
import { startService } from '../../app/service.ts'
import type { CommandIo } from '../command-io.ts'
import { explainSystemErrors } from '../explain-system-errors.ts'
import { readFlags } from '../run-command.ts'

/** `heliograph serve`: runs until SIGINT or SIGTERM. */
export function addServeCommand(program: Command, io: CommandIo): void {
  const serve = program.command('serve').description('run the service')
  for (const setting of Object.values<SettingDefinition>(SETTINGS)) {
    serve.option(`${toFlag(setting.env)} <value>`, `${setting.description} [${setting.env}]`)
  }
  serve.action(async (_options: object, command: Command) => {
    const config = loadConfig(io.environment, readFlags(command))
    const log = createLogger(config.logLevel, io.stderr)
    const service = await explainSystemErrors(() => startService(config, log))
    // Not on the standard error, where every line is one of the log.
    const documentation = config.roles.includes('api') ? ' (documentation at /docs)' : ''
    io.stdout.write(`Heliograph is ready at ${service.baseUrl}${documentation}\n`)
    await untilAborted(io.signal)
    log.info('stopping')
    await service.stop()
  })
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
