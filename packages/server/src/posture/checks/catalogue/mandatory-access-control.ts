import type { CatalogueEntry } from './catalogue-entry.ts'
import { verdictSql } from './verdict-sql.ts'

const linux = verdictSql({
  facts: {
    selinux_enforcing: `SELECT value FROM selinux_settings WHERE key = 'enforce' LIMIT 1`,
    apparmor_enforced_profiles: `SELECT COUNT(*) FROM apparmor_profiles WHERE mode = 'enforce'`,
  },
  cases: [['PASS', `selinux_enforcing = '1' OR apparmor_enforced_profiles > 0`]],
  otherwise: 'FAIL',
})

/** SELinux or AppArmor confines programs. */
export const mandatoryAccessControl: CatalogueEntry = {
  slug: 'mandatory-access-control',
  name: 'SELinux or AppArmor enforced',
  description: 'SELinux is enforcing, or AppArmor enforces at least one profile.',
  issueTitle: 'SELinux and AppArmor are off',
  topics: ['malware'],
  tags: ['Info'],
  queries: { linux },
  rationaleTemplate: `SELinux and AppArmor keep a program that was broken into from touching more than its own files. Your distribution switches one of them on; here both are off.`,
  fix: `Open a terminal.

- Ubuntu and Debian: \`sudo apt install apparmor && sudo systemctl enable --now apparmor\`
- Fedora and Red Hat: run \`sudoedit /etc/selinux/config\`, set \`SELINUX=enforcing\` and save. If SELinux was disabled completely, run \`sudo fixfiles -F onboot\`. Then restart; the first start takes a while.`,
  privacyInfo: 'Whether SELinux is enforcing and how many AppArmor profiles are enforced.',
  defaultStrategy: 'report_only',
  strategyReason: 'A second line of defence; some distributions come without it.',
  shelfLife: 'software',
}
