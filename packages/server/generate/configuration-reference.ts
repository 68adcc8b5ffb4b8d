import { SETTINGS, toFlag, type SettingDefinition } from '../src/app/config/settings.ts'

/** The text of docs/configuration.md. */
export function renderConfigurationReference(): string {
  const rows = Object.values<SettingDefinition>(SETTINGS).map(
    (setting) =>
      `| \`${setting.env}\` | \`${toFlag(setting.env)}\` | ${setting.defaultText ?? 'none'} | ${setting.description}${setting.isSecret === true ? ' Secret.' : ''} |`,
  )
  return [
    '# Configuration',
    '',
    'Every setting is an environment variable and a flag of `heliograph serve`; a flag wins. All',
    'problems are reported at once when the service starts. This page is generated from',
    '`packages/server/src/app/config/settings.ts`.',
    '',
    '| Variable | Flag | Default | Meaning |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}
