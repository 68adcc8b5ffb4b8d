import type { CatalogueEntry } from './catalogue-entry.ts'
import { failingRowsSql, isEmptySql } from './verdict-sql.ts'

// The keys of an account are only read for a uid, so the accounts come first in the join.
const sql = failingRowsSql(
  ['path', 'username', 'key_type'],
  `SELECT k.path, u.username, k.key_type
FROM users u CROSS JOIN user_ssh_keys k ON k.uid = u.uid
WHERE k.encrypted = 0`,
  [
    ['UNKNOWN', isEmptySql('users')],
    ['INAPPLICABLE', isEmptySql('users u CROSS JOIN user_ssh_keys k ON k.uid = u.uid')],
  ],
)

const changePassphrase = `Open a terminal and give the key a passphrase:

1. Run \`ssh-keygen -p -f FILE\` with the key's path instead of \`FILE\`: {{ issue.value.path | code }}
2. Enter a new passphrase twice. The key stays the same, so nothing changes for the servers that know it.`

/** Private SSH keys are protected by a passphrase. */
export const sshKeysEncrypted: CatalogueEntry = {
  slug: 'ssh-keys-encrypted',
  revision: 2,
  name: 'SSH keys encrypted',
  description:
    'Every private SSH key in the accounts of the device is protected by a passphrase. Inapplicable where there is none.',
  issueTitle: 'An SSH key has no passphrase',
  topics: ['credentials'],
  tags: ['Important'],
  queries: { darwin: sql, windows: sql, linux: sql },
  primaryKeyColumn: 'path',
  rationaleTemplate: `The file {{ issue.value.path | code }} opens servers and repositories in your name. Without a passphrase, whoever gets a copy of it, from a backup or through a harmful program, can use it at once.`,
  fix: {
    darwin: `${changePassphrase}
3. Let the keychain remember it: \`ssh-add --apple-use-keychain FILE\`.`,
    windows: `${changePassphrase}
3. Let Windows remember it: in a terminal that runs as administrator, \`Set-Service ssh-agent -StartupType Automatic; Start-Service ssh-agent\`, then \`ssh-add FILE\` in your own.`,
    linux: `${changePassphrase}
3. GNOME asks once and remembers it for the session. Elsewhere run \`ssh-add FILE\`.`,
  },
  privacyInfo:
    'The path, type and owner of each private SSH key without a passphrase. Never the key itself.',
  defaultStrategy: 'warn_then_block',
  graceDays: 14,
  strategyReason: 'A copied key gives access to production, but some keys are used by scripts.',
  shelfLife: 'setting',
}
