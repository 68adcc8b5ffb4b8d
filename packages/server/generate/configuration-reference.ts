import {
  SETTINGS,
  toFileSetting,
  toFlag,
  type SettingDefinition,
} from '../src/app/config/settings.ts'

/** The text of docs/configuration.md. */
export function renderConfigurationReference(): string {
  const rows = Object.values<SettingDefinition>(SETTINGS).flatMap((setting) => {
    const file = toFileSetting(setting)
    return file === undefined ? [toRow(setting)] : [toRow(setting), toRow(file)]
  })
  return [
    '# Configuration',
    '',
    'Every setting is an environment variable and a flag of `heliograph serve`; a flag wins. All',
    'problems are reported at once when the service starts. This page is generated from',
    '`packages/server/src/app/config/settings.ts`.',
    '',
    'What is secret can stand in a file, named by the variable or flag of the same name with `_FILE` or `-file` at',
    'its end. A secret in a flag shows in the list of processes; the service says so.',
    '',
    '| Variable | Flag | Default | Meaning |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

function toRow({
  env,
  defaultText = 'none',
  description,
  isSecret,
}: Pick<SettingDefinition, 'env' | 'defaultText' | 'description' | 'isSecret'>): string {
  const words = isSecret === true ? `${description} Secret.` : description
  return `| \`${env}\` | \`${toFlag(env)}\` | ${defaultText} | ${words} |`
}
