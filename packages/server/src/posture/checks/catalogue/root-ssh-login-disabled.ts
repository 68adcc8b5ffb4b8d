import type { CatalogueEntry } from './catalogue-entry.ts'
import {
  sshdMatchesSql,
  sshdUnreadBeforeSql,
  sshdValueSql,
  SSHD_CONFIG_SQL,
  SSHD_FILE_SEEN_SQL,
  SSHD_LINES_SEEN_SQL,
} from './sshd-config-sql.ts'
import { activeUnitsSql, verdictSql } from './verdict-sql.ts'

// Where nothing is set root may sign in with a key only.
const linux = verdictSql({
  with: SSHD_CONFIG_SQL,
  facts: {
    config_files: SSHD_FILE_SEEN_SQL,
    settings_seen: SSHD_LINES_SEEN_SQL,
    permit_root_login: sshdValueSql('permitrootlogin'),
    matches_that_allow: sshdMatchesSql('yes', 'permitrootlogin'),
    unread_files: sshdUnreadBeforeSql('permitrootlogin'),
    units_seen: `SELECT COUNT(*) FROM systemd_units`,
    active_units: activeUnitsSql(['ssh.service', 'sshd.service', 'ssh.socket', 'sshd.socket']),
  },
  cases: [
    ['INAPPLICABLE', `config_files = 0 AND units_seen > 0 AND active_units IS NULL`],
    ['UNKNOWN', `settings_seen = 0`],
    ['FAIL', `matches_that_allow > 0`],
    ['UNKNOWN', `unread_files IS NOT NULL`],
    ['FAIL', `permit_root_login = 'yes'`],
  ],
  otherwise: 'PASS',
})

/** The account root cannot sign in over SSH with a password. */
export const rootSshLoginDisabled: CatalogueEntry = {
  slug: 'root-ssh-login-disabled',
  revision: 2,
  name: 'No SSH login for root',
  description:
    'The configuration of the SSH server does not let root sign in with a password. The files of sshd_config.d are read in the order of the SSH server, and Match blocks count.',
  issueTitle: 'root may sign in over SSH with a password',
  topics: ['remote-access'],
  tags: ['Important'],
  queries: { linux },
  rationaleTemplate: `Every Linux system has an account called root that may do everything. With its sign-in open to the network, attackers need to guess only the password.`,
  fix: `1. Open a terminal and run \`sudoedit /etc/ssh/sshd_config\`.
2. Change the line \`PermitRootLogin yes\` to \`PermitRootLogin no\` and save. If it is not there, it is in a file of the folder \`/etc/ssh/sshd_config.d\`.
3. Run \`sudo sshd -T | grep -i permitrootlogin\`; it must not say \`yes\`.
4. Ubuntu and Debian: \`sudo systemctl reload ssh\`. Fedora and Red Hat: \`sudo systemctl reload sshd\`.`,
  privacyInfo: 'The value of PermitRootLogin in the configuration of the SSH server.',
  defaultStrategy: 'notify_only',
  strategyReason: 'Matters only where an SSH server runs and can be reached.',
  shelfLife: 'setting',
}
