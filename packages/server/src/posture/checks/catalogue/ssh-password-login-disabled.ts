import type { CatalogueEntry } from './catalogue-entry.ts'
import {
  sshdFullValueSql,
  sshdMatchesSql,
  sshdUnreadBeforeSql,
  sshdValueSql,
  SSHD_CONFIG_SQL,
  SSHD_FILE_SEEN_SQL,
  SSHD_LINES_SEEN_SQL,
} from './sshd-config-sql.ts'
import { activeUnitsSql, verdictSql, type VerdictCase } from './verdict-sql.ts'

const KEYBOARD_INTERACTIVE = ['kbdinteractiveauthentication', 'challengeresponseauthentication']

const facts = {
  config_files: SSHD_FILE_SEEN_SQL,
  lines_seen: SSHD_LINES_SEEN_SQL,
  password_authentication: sshdValueSql('passwordauthentication'),
  keyboard_interactive: sshdValueSql(...KEYBOARD_INTERACTIVE),
  use_pam: sshdValueSql('usepam'),
  authentication_methods: sshdFullValueSql('authenticationmethods'),
  matches_that_allow: sshdMatchesSql('yes', 'passwordauthentication', ...KEYBOARD_INTERACTIVE),
  unread_files: sshdUnreadBeforeSql('passwordauthentication'),
  unread_files_before_keyboard: sshdUnreadBeforeSql(...KEYBOARD_INTERACTIVE),
}

// sshd lets passwords in where nothing is set. With PAM, keyboard-interactive asks for the same password. A
// list of methods keeps passwords alone out when none of its alternatives begins with one.
const CONFIGURATION_CASES: readonly VerdictCase[] = [
  ['UNKNOWN', `lines_seen = 0`],
  ['FAIL', `matches_that_allow > 0`],
  [
    'PASS',
    `authentication_methods <> '' AND authentication_methods NOT LIKE 'any%' AND ' ' || authentication_methods NOT LIKE '% password%' AND ' ' || authentication_methods NOT LIKE '% keyboard-interactive%'`,
  ],
  ['UNKNOWN', `unread_files IS NOT NULL`],
  ['FAIL', `COALESCE(password_authentication, 'yes') <> 'no'`],
  ['UNKNOWN', `unread_files_before_keyboard IS NOT NULL`],
  ['FAIL', `COALESCE(keyboard_interactive, 'yes') <> 'no' AND use_pam = 'yes'`],
]

const darwin = verdictSql({
  with: SSHD_CONFIG_SQL,
  facts: { remote_login: `SELECT remote_login FROM sharing_preferences LIMIT 1`, ...facts },
  cases: [['INAPPLICABLE', `remote_login = 0`], ...CONFIGURATION_CASES],
  otherwise: 'PASS',
})

const linux = verdictSql({
  with: SSHD_CONFIG_SQL,
  facts: {
    units_seen: `SELECT COUNT(*) FROM systemd_units`,
    active_units: activeUnitsSql(['ssh.service', 'sshd.service', 'ssh.socket', 'sshd.socket']),
    ...facts,
  },
  cases: [
    ['INAPPLICABLE', `units_seen > 0 AND active_units IS NULL`],
    ['UNKNOWN', `units_seen = 0 AND config_files = 0`],
    ...CONFIGURATION_CASES,
  ],
  otherwise: 'PASS',
})

const PASSWORDS_OFF = `printf 'PasswordAuthentication no\\nKbdInteractiveAuthentication no\\n' | sudo tee /etc/ssh/sshd_config.d/01-keys-only.conf`

/** Nobody signs in over SSH with a password. */
export const sshPasswordLoginDisabled: CatalogueEntry = {
  slug: 'ssh-password-login-disabled',
  name: 'No SSH login with passwords',
  description:
    'Where the SSH server runs, it accepts keys only. The files of sshd_config.d are read in the order of the SSH server, and Match blocks count. Unknown where it includes files from other folders, which osquery does not read.',
  issueTitle: 'SSH accepts passwords',
  topics: ['remote-access'],
  tags: ['Important'],
  queries: { darwin, linux },
  rationaleTemplate: `Whoever can reach {{ device.name }} over the network may try passwords, and programs do so all day long. A key cannot be guessed.`,
  fix: {
    darwin: `1. Make sure that you can sign in with a key; if you do not need SSH at all, switch **Remote Login** off (Apple menu > **System Settings** > **General** > **Sharing**) and you are done.
2. Open **Terminal** and run \`${PASSWORDS_OFF}\`.
3. Run \`sudo sshd -t\`; it must print nothing.`,
    linux: `1. Make sure that you can sign in with a key: otherwise you lock yourself out.
2. Open a terminal and run \`${PASSWORDS_OFF}\`.
3. Run \`sudo sshd -T | grep -iE 'passwordauth|kbdinter'\`. Both must say \`no\`; if not, the file \`/etc/ssh/sshd_config\` does not include that folder, or a **Match** block in it allows passwords: change it there.
4. Ubuntu and Debian: \`sudo systemctl reload ssh\`. Fedora and Red Hat: \`sudo systemctl reload sshd\`.`,
  },
  privacyInfo:
    'Whether the SSH server runs and which ways to sign in it accepts. No accounts, keys or sessions.',
  defaultStrategy: 'notify_only',
  strategyReason: 'Matters only where an SSH server runs and can be reached.',
  shelfLife: 'setting',
}
