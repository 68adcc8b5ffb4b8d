import type { CatalogueEntry } from './catalogue-entry.ts'
import { failingRowsSql, isEmptySql } from './verdict-sql.ts'

const sql = failingRowsSql(
  ['rule', 'source'],
  `SELECT header || ' ' || rule_details, source
FROM sudoers
WHERE rule_details LIKE '%NOPASSWD:%' OR (header = 'Defaults' AND rule_details LIKE '%!authenticate%')`,
  // Rules that nobody may read, or no sudo.
  [
    [
      'UNKNOWN',
      `${isEmptySql('sudoers')} AND EXISTS (SELECT 1 FROM file WHERE path = '/etc/sudoers')`,
    ],
    ['INAPPLICABLE', isEmptySql('sudoers')],
  ],
)

/** sudo asks for a password. */
export const sudoRequiresPassword: CatalogueEntry = {
  slug: 'sudo-requires-password',
  revision: 2,
  name: 'sudo asks for a password',
  description: 'No rule of sudo gives administrator rights without a password.',
  issueTitle: 'sudo gives administrator rights without a password',
  topics: ['access'],
  tags: ['Important'],
  queries: { darwin: sql, linux: sql },
  primaryKeyColumn: 'rule',
  rationaleTemplate: `With the rule {{ issue.value.rule | code }} every program that you start can make itself administrator without anyone noticing.`,
  fix: `1. Open a terminal and open the file with the rule for editing: \`sudo visudo -f FILE\`, with this path instead of \`FILE\`: {{ issue.value.source | code }}
2. Find the line {{ issue.value.rule | code }} and delete \`NOPASSWD:\` or \`!authenticate\` from it. If nobody needs the rule, delete the line.
3. Save and close. The editor refuses a file with mistakes, so you cannot lock yourself out.`,
  privacyInfo: 'The sudo rules that need no password, with the names in them, and their files.',
  defaultStrategy: 'report_only',
  strategyReason: 'Cloud images and developers set it on purpose; worth a look, not a block.',
  shelfLife: 'setting',
}
