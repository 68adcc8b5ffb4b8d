import { Option, type Command } from 'commander'
import {
  getOrganisation,
  type Organisation,
} from '../../organisation/settings/organisation-store.ts'
import { setOrganisation } from '../../organisation/settings/set-organisation.ts'
import { printJson, printTable, type CommandIo } from '../command-io.ts'
import { parseSwitch } from '../parse-arguments.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'

interface SetOptions {
  name?: string
  complianceThreshold?: Organisation['compliance_threshold']
  apiWrites?: boolean
  ssf?: boolean
  json?: true
}

/** `heliograph organisation show|set`. */
export function addOrganisationCommands(program: Command, io: CommandIo): void {
  const organisation = program
    .command('organisation')
    .description('The organisation and the switches of its features')
  withDatabaseFlags(organisation.command('show'))
    .description('show the settings')
    .action(async (options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ db }) => {
        print(io, await getOrganisation(db), options.json)
      })
    })
  withDatabaseFlags(organisation.command('set'))
    .description('change settings; what is not given stays')
    .option('--name <name>', 'name of the organisation')
    .addOption(
      new Option(
        '--compliance-threshold <state>',
        'the least device state that counts as not compliant',
      ).choices(['blocked', 'will_block', 'notified']),
    )
    .option('--api-writes <on|off>', 'whether API keys may write', parseSwitch)
    .option('--ssf <on|off>', 'whether Shared Signals streams are served', parseSwitch)
    .action(async (options: SetOptions, command: Command) => {
      await runWithServices(io, command, async ({ runChange, reevaluateAllDevices }) => {
        const updated = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          setOrganisation(change, toSettings(options), reevaluateAllDevices),
        )
        print(io, updated, options.json)
      })
    })
}

function toSettings(options: SetOptions) {
  return {
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.complianceThreshold === undefined
      ? {}
      : { complianceThreshold: options.complianceThreshold }),
    ...(options.apiWrites === undefined ? {} : { isApiWritesEnabled: options.apiWrites }),
    ...(options.ssf === undefined ? {} : { isSsfEnabled: options.ssf }),
  }
}

function print(io: CommandIo, organisation: Organisation, isJson: true | undefined): void {
  const values = {
    id: String(organisation.id),
    name: organisation.name,
    compliance_threshold: organisation.compliance_threshold,
    api_writes: organisation.api_writes_enabled,
    ssf: organisation.ssf_enabled,
  }
  if (isJson) printJson(io, values)
  else {
    printTable(
      io,
      ['SETTING', 'VALUE'],
      Object.entries(values).map(([name, value]) => [name, String(value)]),
    )
  }
}
