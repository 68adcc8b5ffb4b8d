import type { CatalogueEntry } from './catalogue-entry.ts'
import { verdictSql } from './verdict-sql.ts'

const CONFIG = '/etc/ssh/sshd_config'

// sshd uses the first value it reads; without one root may sign in with a key only.
const linux = verdictSql({
  facts: {
    config_files: `SELECT COUNT(*) FROM file WHERE path = '${CONFIG}'`,
    settings_seen: `SELECT COUNT(*) FROM augeas WHERE path = '${CONFIG}'`,
    permit_root_login: `SELECT value FROM augeas WHERE path = '${CONFIG}' AND lower(label) = 'permitrootlogin' AND node NOT LIKE '%/Match%' LIMIT 1`,
  },
  cases: [
    ['FAIL', `lower(permit_root_login) = 'yes'`],
    ['PASS', `settings_seen > 0`],
    ['INAPPLICABLE', `config_files = 0`],
  ],
})

/** The account root cannot sign in over SSH with a password. */
export const rootSshLoginDisabled: CatalogueEntry = {
  slug: 'root-ssh-login-disabled',
  name: 'No SSH login for root',
  description:
    'The main configuration file of the SSH server does not let root sign in with a password. Files below sshd_config.d are not read.',
  issueTitle: 'root may sign in over SSH with a password',
  topics: ['remote-access'],
  tags: ['Important'],
  queries: { linux },
  rationaleTemplate: `Every Linux system has an account called root that may do everything. With its sign-in open to the network, attackers need to guess only the password.`,
  fix: `1. Open a terminal and run \`sudoedit /etc/ssh/sshd_config\`.
2. Change the line \`PermitRootLogin yes\` to \`PermitRootLogin no\` and save.
3. Run \`sudo sshd -t\`; it must print nothing.
4. Ubuntu and Debian: \`sudo systemctl reload ssh\`. Fedora and Red Hat: \`sudo systemctl reload sshd\`.`,
  privacyInfo: 'The value of PermitRootLogin in the configuration of the SSH server.',
  defaultStrategy: 'notify_only',
  strategyReason: 'Matters only where an SSH server runs and can be reached.',
  shelfLife: 'setting',
}
