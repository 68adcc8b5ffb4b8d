import type { CatalogueEntry } from './catalogue-entry.ts'
import { passOrFailSql } from './verdict-sql.ts'

const darwin = passOrFailSql({
  facts: { sip_enabled: `SELECT enabled FROM sip_config WHERE config_flag = 'sip' LIMIT 1` },
  pass: `sip_enabled = 1`,
  fail: `sip_enabled = 0`,
})

/** Not even an administrator can change the files of macOS itself. */
export const systemIntegrityProtection: CatalogueEntry = {
  slug: 'system-integrity-protection',
  name: 'System Integrity Protection',
  description: 'macOS keeps its own files and processes from being changed.',
  issueTitle: 'System Integrity Protection is off',
  topics: ['malware'],
  tags: ['Critical'],
  queries: { darwin },
  rationaleTemplate: `System Integrity Protection keeps harmful software from hiding inside macOS, even when it has got hold of an administrator’s password. It is only ever switched off by hand.`,
  fix: {
    darwin: [
      'Shut the Mac down. Apple silicon: hold the power button until **Loading startup options** appears, then choose **Options** > **Continue**. Intel: press the power button and hold **Command-R** at once.',
      'In the menu bar choose **Utilities** > **Terminal**, run `csrutil enable` and enter your password if asked.',
      'Restart from the Apple menu.',
    ],
  },
  privacyInfo: 'Whether System Integrity Protection is on.',
  defaultStrategy: 'warn_then_block',
  graceDays: 7,
  strategyReason:
    'Its absence makes every other answer of the Mac doubtful; the fix needs a restart.',
  shelfLife: 'software',
}
