import type { CatalogueEntry } from './catalogue-entry.ts'
import { verdictSql, type VerdictCase } from './verdict-sql.ts'

// NIST SP 800-63B section 3.1.1.2: at least 8 characters where a password is not the only factor.
const LENGTH_MIN = 8

// macOS writes a minimum length as a pattern: policyAttributePassword matches '.{12,}+'. Policies of the
// whole Mac have the account -1, which also keeps osquery from asking for every account.
const MACOS_POLICIES = `SELECT CAST(substr(policy_content, instr(policy_content, '.{') + 2) AS INTEGER) AS length
  FROM password_policy WHERE uid = -1 AND policy_content LIKE '%policyAttributePassword matches%' AND instr(policy_content, '.{') > 0`

const cases: readonly VerdictCase[] = [
  ['PASS', `minimum_length >= ${LENGTH_MIN}`],
  ['FAIL', `minimum_length IS NOT NULL`],
]

const darwin = verdictSql({
  with: `policies AS (${MACOS_POLICIES})`,
  facts: { minimum_length: `SELECT MAX(length) FROM policies` },
  cases,
})

// -1 stands for a value that the local policy does not set, which Windows takes for 0.
const windows = verdictSql({
  facts: {
    minimum_length: `SELECT MAX(minimum_password_length, 0) FROM security_profile_info LIMIT 1`,
  },
  cases,
})

/** Passwords of local accounts cannot be short. */
export const passwordPolicy: CatalogueEntry = {
  slug: 'password-policy',
  name: 'Password policy',
  description: `New passwords of local accounts on macOS and Windows must have at least ${LENGTH_MIN} characters. Unknown on a Mac that sets no length. Accounts of a directory follow the directory’s own policy, which is not read.`,
  issueTitle: 'Short passwords are allowed',
  topics: ['access', 'credentials'],
  tags: ['Info'],
  queries: { darwin, windows },
  rationaleTemplate: `{{ device.name }} accepts passwords of {{ issue.value.minimum_length }} characters. Short ones are guessed by trying, above all from a stolen disk or over a network.`,
  fix: {
    darwin: `A profile of your organisation sets the rule; ask your IT team whether one is on its way. If you look after this Mac yourself, open **Terminal** and run the line below; it asks for your password. Your present password stays until you change it.

\`\`\`
sudo pwpolicy -setglobalpolicy "minChars=${LENGTH_MIN}"
\`\`\``,
    windows: [
      'Open **Start**, type `Terminal`, right-click it and choose **Run as administrator**.',
      `Run \`net accounts /minpwlen:${LENGTH_MIN}\`. Your present password stays until you change it.`,
      'If the issue comes back, a policy of your organisation sets another length: tell your IT team.',
    ],
  },
  privacyInfo: 'The shortest length of passwords that the device accepts. Never a password.',
  defaultStrategy: 'report_only',
  strategyReason: 'Set by profiles and policies of the organisation, seldom by the user.',
  shelfLife: 'setting',
}
