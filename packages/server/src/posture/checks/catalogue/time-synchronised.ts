import type { CatalogueEntry } from './catalogue-entry.ts'
import {
  activeUnitsSql,
  isClearedSql,
  isSetSql,
  managedPolicyValueSql,
  passOrFailSql,
  plistValueSql,
  registryValueSql,
  verdictSql,
} from './verdict-sql.ts'

const managed = managedPolicyValueSql('com.apple.timed', 'TMAutomaticTimeOnlyEnabled')
const setting = plistValueSql(
  '/private/var/db/timed/Library/Preferences/com.apple.timed.plist',
  'TMAutomaticTimeOnlyEnabled',
)

const darwin = passOrFailSql({
  facts: { set_automatically: `SELECT COALESCE((${managed}), (${setting}))` },
  pass: isSetSql('set_automatically'),
  fail: isClearedSql('set_automatically'),
})

const windows = verdictSql({
  facts: {
    service_start_type: `SELECT start_type FROM services WHERE name = 'W32Time' LIMIT 1`,
    source_type: registryValueSql(
      String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\W32Time\Parameters\Type`,
    ),
  },
  cases: [
    ['FAIL', `service_start_type = 'DISABLED' OR source_type = 'NoSync'`],
    ['PASS', `service_start_type IS NOT NULL`],
  ],
})

const linux = verdictSql({
  facts: {
    units_seen: `SELECT COUNT(*) FROM systemd_units`,
    active_units: activeUnitsSql([
      'systemd-timesyncd.service',
      'chrony.service',
      'chronyd.service',
      'ntp.service',
      'ntpd.service',
      'ntpsec.service',
      'openntpd.service',
    ]),
  },
  cases: [
    ['UNKNOWN', `units_seen = 0`],
    ['PASS', `active_units IS NOT NULL`],
  ],
  otherwise: 'FAIL',
})

/** The clock of the device is set from the network. */
export const timeSynchronised: CatalogueEntry = {
  slug: 'time-synchronised',
  name: 'Clock set automatically',
  description: 'The device sets its clock from the network.',
  issueTitle: 'The clock is not set automatically',
  topics: ['maintenance'],
  tags: ['Info'],
  queries: { darwin, windows, linux },
  rationaleTemplate: `Certificates, one-time codes and logs depend on the right time. With a wrong clock sign-ins fail, and expired certificates may look valid.`,
  fix: {
    darwin: [
      'Open the Apple menu > **System Settings** > **General** > **Date & Time**.',
      'Switch **Set time and date automatically** on.',
    ],
    windows: [
      'Open **Settings** > **Time & language** > **Date & time**.',
      'Switch **Set time automatically** on and choose **Sync now**.',
      'If that fails, open **Start**, type `services`, open **Services** > **Windows Time**, set **Startup type** to **Manual** and choose **Start**.',
    ],
    linux: `Open a terminal and run \`sudo timedatectl set-ntp true\`. If it says that NTP is not supported, run \`sudo apt install systemd-timesyncd\` or \`sudo dnf install chrony\` first.`,
  },
  privacyInfo: 'Whether the clock is set automatically. No location and no time zone.',
  defaultStrategy: 'report_only',
  strategyReason: 'On by default and rarely a danger in itself.',
  shelfLife: 'setting',
}
