import type { CatalogueEntry } from './catalogue-entry.ts'
import { sharingSwitchOffSql, switchSharingOff } from './macos-sharing.ts'
import { noActiveUnitsSql, verdictSql } from './verdict-sql.ts'

const windows = verdictSql({
  facts: {
    services_seen: `SELECT COUNT(*) FROM services`,
    ssh_service_status: `SELECT status FROM services WHERE name = 'sshd' LIMIT 1`,
    ssh_service_start_type: `SELECT start_type FROM services WHERE name = 'sshd' LIMIT 1`,
  },
  cases: [
    ['UNKNOWN', `services_seen = 0`],
    ['FAIL', `ssh_service_status = 'RUNNING'`],
  ],
  otherwise: 'PASS',
})

const linux = noActiveUnitsSql(['ssh.service', 'sshd.service', 'ssh.socket', 'sshd.socket'])

/** Nobody can sign in to the device over SSH. */
export const remoteLoginDisabled: CatalogueEntry = {
  slug: 'remote-login-disabled',
  name: 'Remote login off',
  description: 'The SSH server of the device is not running.',
  issueTitle: 'Remote login (SSH) is on',
  topics: ['remote-access'],
  tags: ['Info'],
  queries: { darwin: sharingSwitchOffSql('remote_login'), windows, linux },
  rationaleTemplate: `With remote login on, anyone on the same network who guesses or steals a password can work on {{ device.name }} as if they sat in front of it. Laptops rarely need it.`,
  fix: {
    darwin: switchSharingOff('Remote Login'),
    windows: [
      'Open **Start**, type `services` and open **Services**.',
      'Open **OpenSSH SSH Server**, choose **Stop**, set **Startup type** to **Disabled** and choose **OK**.',
    ],
    linux: `Open a terminal and run the line for your distribution:

- Ubuntu and Debian: \`sudo systemctl disable --now ssh.socket ssh.service\`
- Fedora and Red Hat: \`sudo systemctl disable --now sshd.socket sshd.service\`

If you need SSH for your work, ask for an exemption.`,
  },
  privacyInfo: 'Whether the SSH server is running. No accounts, keys or sessions.',
  defaultStrategy: 'report_only',
  strategyReason: 'Developers and servers need SSH; worth knowing, seldom worth a block.',
  shelfLife: 'setting',
}
