import type { CatalogueEntry } from './catalogue-entry.ts'
import { activeUnitsSql, isEmptySql, passOrFailSql, verdictSql } from './verdict-sql.ts'

// The list of macOS 15 and newer is empty before osquery 5.14.
const darwin = passOrFailSql({
  facts: {
    global_state: `SELECT global_state FROM alf LIMIT 1`,
    stealth_enabled: `SELECT stealth_enabled FROM alf LIMIT 1`,
    osquery_version: `SELECT version FROM osquery_info LIMIT 1`,
  },
  pass: `global_state >= 1`,
  fail: `global_state = 0`,
})

const windows = passOrFailSql({
  facts: {
    firewall: `SELECT firewall FROM windows_security_center LIMIT 1`,
    products: `SELECT group_concat(name || ': ' || state, ', ') FROM windows_security_products WHERE type = 'Firewall'`,
  },
  pass: `firewall = 'Good'`,
  fail: `firewall IN ('Poor', 'Snoozed')`,
})

// The unit of ufw stays active when `ufw disable` was run, so it proves nothing alone. Its rules do:
// as chains of the legacy tables, or, with the nft back end that osquery cannot list, through the two
// modules that only its IPv6 rules load.
const linux = verdictSql({
  facts: {
    active_services: activeUnitsSql([
      'firewalld.service',
      'nftables.service',
      'iptables.service',
      'netfilter-persistent.service',
      'shorewall.service',
    ]),
    ufw_service: activeUnitsSql(['ufw.service']),
    filter_rules: `SELECT COUNT(*) FROM iptables WHERE filter_name = 'filter' AND (chain LIKE 'ufw%' OR (chain = 'INPUT' AND (policy = 'DROP' OR COALESCE(target, '') IN ('DROP', 'REJECT'))))`,
    ufw_modules: `SELECT COUNT(*) FROM kernel_modules WHERE name IN ('xt_hl', 'ip6t_rt')`,
  },
  cases: [
    ['PASS', `active_services IS NOT NULL OR filter_rules > 0`],
    ['PASS', `ufw_service IS NOT NULL AND ufw_modules > 0`],
    ['UNKNOWN', `ufw_service IS NOT NULL OR ${isEmptySql('systemd_units')}`],
  ],
  otherwise: 'FAIL',
})

/** The device's own firewall filters incoming connections. */
export const firewall: CatalogueEntry = {
  slug: 'firewall',
  revision: 2,
  name: 'Firewall',
  description:
    'The firewall of the operating system, or one that replaces it, is on. On Linux firewalld, nftables, iptables and ufw are recognised. macOS 15 and newer tell it to osquery 5.14 and newer only; older ones answer unknown.',
  issueTitle: 'The firewall is off',
  topics: ['network'],
  tags: ['Important'],
  queries: { darwin, windows, linux },
  rationaleTemplate: `In a café, a hotel or at home, {{ device.name }} shares a network with devices that nobody looks after. The firewall keeps them from reaching programs on it that were never meant to be reached.`,
  fix: {
    darwin: [
      'Open the Apple menu > **System Settings** > **Network** and choose **Firewall**.',
      'Switch **Firewall** on.',
    ],
    windows: [
      'Open **Start**, type `Windows Security` and open it.',
      'Choose **Firewall & network protection**.',
      'Open each of **Domain network**, **Private network** and **Public network** and switch **Microsoft Defender Firewall** on.',
    ],
    linux: `Open a terminal and run the line for your distribution:

- Ubuntu and Debian: \`sudo apt install ufw && sudo ufw enable\`
- Fedora and Red Hat: \`sudo dnf install firewalld && sudo systemctl enable --now firewalld\`

If other computers must reach this one over SSH, run \`sudo ufw allow ssh\` or \`sudo firewall-cmd --permanent --add-service=ssh\` first.`,
  },
  privacyInfo:
    'Whether the firewall is on and which product or service runs it. No rules and no connections.',
  defaultStrategy: 'warn_then_block',
  graceDays: 7,
  strategyReason: 'Fixed in a minute by the user; the risk is real only on untrusted networks.',
  shelfLife: 'setting',
}
