/* Rows of software that is too old, not wanted or known to be malicious. */
import type { CheckPlatform } from '../../src/posture/checks/check-definition.ts'
import type { OsqueryRow, TableRows } from './osquery-database.ts'

/** A macOS app as `apps` shows it. */
export const app = (bundle_identifier: string, bundle_short_version: string): OsqueryRow => ({
  name: `${bundle_identifier}.app`,
  bundle_identifier,
  bundle_short_version,
  path: `/Applications/${bundle_identifier}.app`,
})

/** A Windows program or an RPM package. */
export const program = (name: string, version: string): OsqueryRow => ({ name, version })
/** An installed Debian package. */
export const deb = (name: string, version: string): OsqueryRow => ({
  name,
  version,
  status: 'install ok installed',
})

const maliciousExtension: TableRows = {
  chrome_extensions: [
    {
      uid: 501,
      identifier: 'pajkjnmeojmbapicmbpliphjmcekeaac',
      name: 'Cyberhaven security extension V3',
      version: '24.10.4',
      browser_type: 'chrome',
    },
  ],
}

const oldApp = (name: string, bundle_identifier: string, version: string): TableRows => ({
  apps: [{ name: `${name}.app`, bundle_identifier, bundle_short_version: version }],
})

/** For the checks on applications and malicious software the tables whose content makes each fail. */
export const SOFTWARE_FAILING_TABLES: Readonly<
  Record<string, Readonly<Partial<Record<CheckPlatform, TableRows>>>>
> = {
  'malicious-extensions': {
    darwin: maliciousExtension,
    windows: {
      vscode_extensions: [{ uid: 501, name: 'codejoy.codejoy-vscode-extension', version: '1.8.3' }],
    },
    linux: maliciousExtension,
  },
  'compromised-packages': {
    darwin: {
      npm_packages: [
        {
          name: 'chalk',
          version: '5.6.1',
          directory: '/opt/homebrew/lib',
          path: '/opt/homebrew/lib/node_modules/chalk/package.json',
        },
      ],
    },
    windows: {
      file: [
        {
          path: String.raw`C:\Users\ada\AppData\Local\Programs\Python\Python313\Lib\site-packages\litellm-1.82.8.dist-info\METADATA`,
        },
      ],
    },
    linux: {
      file: [
        {
          path: '/home/ada/.local/lib/python3.12/site-packages/num2words-0.5.15.dist-info/METADATA',
        },
      ],
    },
  },
  'chrome-up-to-date': {
    darwin: { apps: [app('com.google.Chrome', '99.0.4844.51')] },
    windows: { programs: [program('Google Chrome', '99.0.4844.51')] },
    linux: { deb_packages: [deb('google-chrome-stable', '99.0.4844.51-1')] },
  },
  'edge-up-to-date': {
    darwin: { apps: [app('com.microsoft.edgemac', '99.0.1150.30')] },
    windows: { programs: [program('Microsoft Edge', '99.0.1150.30')] },
    linux: { rpm_packages: [program('microsoft-edge-stable', '99.0.1150.30')] },
  },
  'firefox-up-to-date': {
    darwin: { apps: [app('org.mozilla.firefox', '115.9')] },
    windows: { programs: [program('Mozilla Firefox (x64 en-US)', '115.9')] },
    linux: { deb_packages: [deb('firefox', '1:115.9.0+build1-0ubuntu1')] },
  },
  'remote-access-tools': {
    darwin: { apps: [app('com.philandro.anydesk', '9.0')] },
    windows: { programs: [program('TeamViewer', '15.5')] },
    linux: { deb_packages: [deb('rustdesk', '1.3')] },
  },
  'password-manager-installed': {
    darwin: { apps: [app('com.google.Chrome', '199.0')], chrome_extensions: [] },
    windows: { programs: [program('Microsoft Edge', '199.0')], chrome_extensions: [] },
    linux: { deb_packages: [deb('bash', '5.2')], chrome_extensions: [] },
  },
  'safari-up-to-date': { darwin: oldApp('Safari', 'com.apple.Safari', '17.6') },
  'xcode-up-to-date': { darwin: oldApp('Xcode', 'com.apple.dt.Xcode', '15.4') },
  'office-up-to-date': {
    darwin: oldApp('Microsoft Word', 'com.microsoft.Word', '16.78'),
    windows: { programs: [{ name: 'Microsoft Office Standard 2016', version: '16.0.4266.1001' }] },
  },
  'banned-applications': {
    darwin: {
      apps: [{ name: 'uTorrent.app', bundle_identifier: 'com.bittorrent.uTorrent' }],
    },
    windows: { programs: [{ name: 'µTorrent', version: '3.6.0' }] },
    linux: { rpm_packages: [{ name: 'qbittorrent', version: '5.1' }] },
  },
}
