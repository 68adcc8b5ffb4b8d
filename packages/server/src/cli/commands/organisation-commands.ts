import {
  getOrganisation,
  type Organisation,
} from '../../organisation/settings/organisation-store.ts'
import {
  COMPLIANCE_THRESHOLDS,
  ORGANISATION_NAME_LENGTH_MAX,
  setOrganisation,
} from '../../organisation/settings/set-organisation.ts'
import { toTableLines } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { choiceOption, parsedOption, textOption } from '../option.ts'
import { parseSwitch } from '../parse-arguments.ts'

const show = databaseCommand({
  name: 'show',
  description: 'show the settings',
  run: async ({ services }) => toJson(await getOrganisation(services.db)),
  text: toLines,
})

const set = databaseCommand({
  name: 'set',
  description: 'change settings; what is not given stays',
  options: {
    name: textOption('--name <name>', 'name of the organisation', ORGANISATION_NAME_LENGTH_MAX),
    complianceThreshold: choiceOption(
      '--compliance-threshold <state>',
      'the least device state that counts as not compliant',
      COMPLIANCE_THRESHOLDS,
    ),
    apiWrites: parsedOption('--api-writes <on|off>', 'whether API keys may write', parseSwitch),
    ssf: parsedOption('--ssf <on|off>', 'whether Shared Signals streams are served', parseSwitch),
  },
  async run({ change, options, services }) {
    const { name, complianceThreshold, apiWrites, ssf } = options
    const settings = {
      name,
      complianceThreshold,
      isApiWritesEnabled: apiWrites,
      isSsfEnabled: ssf,
    }
    return toJson(
      await change((tx) => setOrganisation(tx, settings, services.reevaluateAllDevices)),
    )
  },
  text: toLines,
})

/** `heliograph organisation show|set`. */
export const definition = commandGroup([show, set])

function toJson(organisation: Organisation) {
  return {
    id: String(organisation.id),
    name: organisation.name,
    compliance_threshold: organisation.complianceThreshold,
    api_writes: organisation.apiWritesEnabled,
    ssf: organisation.ssfEnabled,
    admins_require_trusted_device: organisation.adminsRequireTrustedDevice,
  }
}

function toLines(values: ReturnType<typeof toJson>): string[] {
  const rows = Object.entries(values).map(([name, value]) => [name, String(value)])
  return toTableLines(['SETTING', 'VALUE'], rows)
}
