import type { CatalogueEntry } from './catalogue-entry.ts'
import {
  activeUnitsSql,
  isClearedSql,
  isEmptySql,
  isSetSql,
  managedPolicyValueSql,
  plistValueSql,
  registryValueSql,
  verdictSql,
} from './verdict-sql.ts'

const SOFTWARE_UPDATE_PLIST = '/Library/Preferences/com.apple.SoftwareUpdate.plist'

// A configuration profile wins over the setting of the Mac.
function updateSetting(name: string): string {
  const managed = managedPolicyValueSql('com.apple.SoftwareUpdate', name)
  return `SELECT COALESCE((${managed}), (${plistValueSql(SOFTWARE_UPDATE_PLIST, name)}))`
}

const darwin = verdictSql({
  facts: {
    settings_seen: `SELECT (SELECT COUNT(*) FROM plist WHERE path = '${SOFTWARE_UPDATE_PLIST}') + (SELECT COUNT(*) FROM managed_policies WHERE domain = 'com.apple.SoftwareUpdate')`,
    check_for_updates: updateSetting('AutomaticCheckEnabled'),
    download_updates: updateSetting('AutomaticDownload'),
    install_macos_updates: updateSetting('AutomaticallyInstallMacOSUpdates'),
    install_security_responses: updateSetting('CriticalUpdateInstall'),
  },
  cases: [
    ['UNKNOWN', `settings_seen = 0`],
    ['FAIL', isClearedSql('check_for_updates')],
    ['FAIL', isClearedSql('download_updates')],
    ['FAIL', isClearedSql('install_security_responses')],
    ['PASS', isSetSql('install_macos_updates')],
  ],
  otherwise: 'FAIL',
})

const AU_POLICY = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Policies\Microsoft\Windows\WindowsUpdate\AU`

// AUOptions: 1 never check, 2 notify before download, 3 and above download by themselves.
const windows = verdictSql({
  facts: {
    service_start_type: `SELECT start_type FROM services WHERE name = 'wuauserv' LIMIT 1`,
    no_auto_update: registryValueSql(`${AU_POLICY}\\NoAutoUpdate`),
    au_options: registryValueSql(`${AU_POLICY}\\AUOptions`),
  },
  cases: [
    ['FAIL', `service_start_type = 'DISABLED'`],
    ['FAIL', `no_auto_update = '1'`],
    ['FAIL', `au_options IN ('1', '2')`],
    ['PASS', `service_start_type IS NOT NULL`],
  ],
})

const linux = verdictSql({
  facts: {
    unattended_upgrades: `SELECT version FROM deb_packages WHERE name = 'unattended-upgrades' LIMIT 1`,
    unattended_upgrade_period: `SELECT value FROM augeas WHERE path = '/etc/apt/apt.conf.d/20auto-upgrades' AND label = 'Unattended-Upgrade' LIMIT 1`,
    active_timers: activeUnitsSql([
      'apt-daily-upgrade.timer',
      'dnf-automatic.timer',
      'dnf-automatic-install.timer',
      'dnf5-automatic.timer',
      'rpm-ostreed-automatic.timer',
    ]),
  },
  cases: [
    [
      'PASS',
      `unattended_upgrades IS NOT NULL AND active_timers LIKE '%apt-daily-upgrade.timer%' AND COALESCE(unattended_upgrade_period, '1') <> '0'`,
    ],
    ['PASS', `active_timers LIKE '%dnf%' OR active_timers LIKE '%rpm-ostreed%'`],
    ['UNKNOWN', isEmptySql('systemd_units')],
  ],
  otherwise: 'FAIL',
})

/** The operating system downloads and installs its updates by itself. */
export const automaticUpdates: CatalogueEntry = {
  slug: 'automatic-updates',
  revision: 2,
  name: 'Automatic updates',
  description:
    'The operating system downloads and installs its updates by itself. On Linux unattended-upgrades and the timers of dnf and rpm-ostree are recognised.',
  issueTitle: 'Automatic updates are off',
  topics: ['updates'],
  tags: ['Important'],
  queries: { darwin, windows, linux },
  rationaleTemplate: `Most break-ins use holes that have been closed for weeks. With automatic updates {{ device.name }} closes them without anyone having to think of it.`,
  fix: {
    darwin: [
      'Open the Apple menu > **System Settings** > **General** > **Software Update**.',
      'Choose the **Info** button (i) next to **Automatic Updates**.',
      'Switch on **Download new updates when available**, **Install macOS updates** and **Install Security Responses and system files**, then choose **Done**.',
    ],
    windows: [
      'Open **Start**, type `services` and open **Services**.',
      'Open **Windows Update**, set **Startup type** to **Manual** (the Windows default) and choose **OK**.',
      'Open **Settings** > **Windows Update** and choose **Check for updates**. If it says **Updates paused**, choose **Resume updates**.',
      'If the page says that your organisation manages some settings, ask your IT team: a policy switches the updates off.',
    ],
    linux: `Open a terminal and run the lines for your distribution.

Ubuntu and Debian:

\`\`\`
sudo apt install unattended-upgrades
sudo dpkg-reconfigure -plow unattended-upgrades
sudo systemctl enable --now apt-daily-upgrade.timer
\`\`\`

Choose **Yes** when asked. Fedora 41 and newer (older: the package is called \`dnf-automatic\` and the timer \`dnf-automatic.timer\`):

\`\`\`
sudo dnf install dnf5-plugin-automatic
sudo systemctl enable --now dnf5-automatic.timer
\`\`\``,
  },
  privacyInfo:
    'The settings of the update service and, on Linux, whether its packages are installed.',
  defaultStrategy: 'notify_only',
  strategyReason:
    'Prevents tomorrow’s issue; the outdated system itself is what the version check blocks on.',
  shelfLife: 'setting',
}
