import type { CatalogueEntry } from './catalogue-entry.ts'
import { failingRowsSql, isEmptySql } from './verdict-sql.ts'

// Every Linux has accounts, so that a list of none could not be read.
const linux = failingRowsSql(
  ['username'],
  `SELECT username FROM shadow WHERE password_status = 'empty'`,
  [['UNKNOWN', isEmptySql('shadow')]],
)

/** No local account can be used without a password. */
export const accountsHavePasswords: CatalogueEntry = {
  slug: 'accounts-have-passwords',
  revision: 2,
  name: 'Accounts have passwords',
  description: 'No local account has an empty password.',
  issueTitle: 'An account has no password',
  topics: ['access'],
  tags: ['Critical'],
  queries: { linux },
  primaryKeyColumn: 'username',
  rationaleTemplate: `Anyone can sign in as **{{ issue.value.username }}** without a password, at the keyboard and perhaps over the network.`,
  fix: `Open a terminal.

- If someone uses the account **{{ issue.value.username }}**, give it a password: \`sudo passwd NAME\`.
- If nobody does, lock it: \`sudo passwd --lock NAME\`.

Put the account’s name instead of \`NAME\`.`,
  privacyInfo: 'The names of local accounts without a password. No hashes of passwords.',
  defaultStrategy: 'warn_then_block',
  graceDays: 3,
  strategyReason: 'An open door, rare, and closed with one command.',
  shelfLife: 'setting',
}
