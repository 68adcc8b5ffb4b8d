import type { CatalogueEntry } from './catalogue-entry.ts'
import { registryValueSql, verdictSql } from './verdict-sql.ts'

const SYSTEM_POLICIES = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\System`

// ConsentPromptBehaviorAdmin 0 elevates without asking, which is as good as no UAC.
const windows = verdictSql({
  facts: {
    enable_lua: registryValueSql(`${SYSTEM_POLICIES}\\EnableLUA`),
    consent_prompt_admin: registryValueSql(`${SYSTEM_POLICIES}\\ConsentPromptBehaviorAdmin`),
  },
  cases: [
    ['FAIL', `enable_lua = '0' OR consent_prompt_admin = '0'`],
    ['PASS', `enable_lua = '1'`],
  ],
})

/** Windows asks before a program gets administrator rights. */
export const userAccountControl: CatalogueEntry = {
  slug: 'user-account-control',
  name: 'User Account Control',
  description: 'Windows asks before a program gets administrator rights.',
  issueTitle: 'User Account Control is off',
  topics: ['access'],
  tags: ['Important'],
  queries: { windows },
  rationaleTemplate: `User Account Control is the question whether an app may make changes to this device. Without it every program that you open may change everything, and none has to ask.`,
  fix: {
    windows: [
      'Open **Start**, type `UAC` and open **Change User Account Control settings**.',
      'Move the slider to **Notify me only when apps try to make changes to my computer (default)** or higher and choose **OK**.',
      'Restart the computer.',
    ],
  },
  privacyInfo: 'The settings of User Account Control.',
  defaultStrategy: 'warn_then_block',
  graceDays: 7,
  strategyReason: 'On by default and needed by no honest software.',
  shelfLife: 'setting',
}
