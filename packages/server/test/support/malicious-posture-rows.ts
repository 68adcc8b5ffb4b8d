/* Rows of software that is known to be malicious, or that is not wanted. */
import type { CheckPlatform } from '../../src/posture/checks/check-definition.ts'
import type { TableRows } from './osquery-database.ts'

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

/** For the checks on malicious and banned software the tables whose content makes each fail. */
export const MALICIOUS_FAILING_TABLES: Readonly<
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
  'banned-applications': {
    darwin: {
      apps: [{ name: 'uTorrent.app', bundle_identifier: 'com.bittorrent.uTorrent' }],
    },
    windows: { programs: [{ name: 'µTorrent', version: '3.6.0' }] },
    linux: { rpm_packages: [{ name: 'qbittorrent', version: '5.1' }] },
  },
}
