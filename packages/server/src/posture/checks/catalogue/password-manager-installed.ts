import type { CheckPlatform } from '../check-definition.ts'
import type { CatalogueEntry } from './catalogue-entry.ts'
import {
  installedAppsSql,
  installedPackagesSql,
  installedProgramsSql,
  NO_SOFTWARE_LISTED_SQL,
  type SoftwareNames,
} from './installed-software-sql.ts'
import { quoteListSql, verdictSql } from './verdict-sql.ts'

const PASSWORD_MANAGERS: SoftwareNames = {
  bundleIdentifiers: [
    'com.1password.1password',
    'com.agilebits.onepassword7',
    'com.bitwarden.desktop',
    'com.dashlane.dashlanephonefinal',
    'com.lastpass.LastPass',
    'me.proton.pass.electron',
    'org.keepassxc.keepassxc',
  ],
  programNames: [
    '1Password%',
    'Bitwarden%',
    'Dashlane%',
    'KeePassXC%',
    'KeePass Password Safe%',
    'Keeper Password Manager%',
    'LastPass%',
    'NordPass%',
    'Proton Pass%',
  ],
  packageNames: ['1password', 'bitwarden', 'keepassxc', 'pass', 'proton-pass'],
}

// Extensions of Chrome, Edge, Brave and other browsers of the same kind.
const EXTENSION_IDENTIFIERS = [
  'aeblfdkhhhdcdjpifhhbdiojplfjncoa',
  'bfogiafebfohielmmehodmfbbebbbpei',
  'eiaeiblijfjekdanodkjadfinkhbfgcd',
  'fdjamakpfbbddfjaooikfcpapjohcfmg',
  'ghmbeldphafepmbegfdlkpapadhbakde',
  'hdokiejnpimakedhajhdlcegeplioahd',
  'nngceckbapebfimnlniiiahkandclblb',
  'oboonakemofpalcgghocfoadofidjkkk',
]

function toQuery(platform: CheckPlatform, installed: string): string {
  return verdictSql({
    facts: {
      password_managers: `SELECT group_concat(name, ', ') FROM (SELECT name FROM (${installed})
    UNION SELECT e.name FROM users u CROSS JOIN chrome_extensions e ON e.uid = u.uid
    WHERE e.identifier IN (${quoteListSql(EXTENSION_IDENTIFIERS)}))`,
    },
    cases: [
      ['PASS', `password_managers IS NOT NULL`],
      ['UNKNOWN', NO_SOFTWARE_LISTED_SQL[platform]],
    ],
    otherwise: 'FAIL',
  })
}

/** A password manager is installed, as an app or in a browser. */
export const passwordManagerInstalled: CatalogueEntry = {
  slug: 'password-manager-installed',
  revision: 2,
  name: 'Password manager installed',
  description:
    'A well-known password manager is installed, as an app or as an extension of a Chrome-like browser. Those built into browsers and macOS cannot be seen.',
  issueTitle: 'No password manager is installed',
  topics: ['credentials'],
  tags: ['Info'],
  queries: {
    darwin: toQuery('darwin', installedAppsSql(PASSWORD_MANAGERS)),
    windows: toQuery('windows', installedProgramsSql(PASSWORD_MANAGERS)),
    linux: toQuery('linux', installedPackagesSql(PASSWORD_MANAGERS)),
  },
  rationaleTemplate: `People who must remember passwords use the same one again and again. When one site is broken into, all others are open too. A password manager makes a different one for each and fills it in only on the real site.`,
  fix: `Install the password manager that {{ organisation.name | default: "your organisation" }} offers; ask your IT team which one that is. Then:

1. Add its extension to your browser and sign in to it.
2. Let it take over the passwords that your browser has saved.
3. Change the passwords that you have used more than once, beginning with your mail account.`,
  privacyInfo:
    'The names of the password managers that were found. Never what they hold, and no other apps or extensions.',
  defaultStrategy: 'report_only',
  strategyReason:
    'Shows how far a roll-out has come; built-in managers are as good and not visible.',
  shelfLife: 'software',
}
