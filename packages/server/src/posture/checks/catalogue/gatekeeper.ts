import type { CatalogueEntry } from './catalogue-entry.ts'
import { passOrFailSql } from './verdict-sql.ts'

const darwin = passOrFailSql({
  facts: {
    assessments_enabled: `SELECT assessments_enabled FROM gatekeeper LIMIT 1`,
    dev_id_enabled: `SELECT dev_id_enabled FROM gatekeeper LIMIT 1`,
  },
  pass: `assessments_enabled = 1`,
  fail: `assessments_enabled = 0`,
})

/** macOS refuses apps that are unsigned or known to be harmful. */
export const gatekeeper: CatalogueEntry = {
  slug: 'gatekeeper',
  name: 'Gatekeeper',
  description: 'macOS checks who signed an app before it runs for the first time.',
  issueTitle: 'Gatekeeper is off',
  topics: ['malware'],
  tags: ['Critical'],
  queries: { darwin },
  rationaleTemplate: `Gatekeeper stops apps that nobody vouches for and apps that Apple has found to be harmful. Without it, opening one wrong download is enough to hand over {{ device.name }}.`,
  fix: {
    darwin: [
      'Open **Terminal** (in **Applications** > **Utilities**), run `sudo spctl --global-enable` and enter your password.',
      'Open the Apple menu > **System Settings** > **Privacy & Security**, scroll to **Security** and set **Allow applications from** to **App Store & Known Developers**.',
    ],
  },
  privacyInfo: 'Whether Gatekeeper is on. No apps.',
  defaultStrategy: 'warn_then_block',
  graceDays: 3,
  strategyReason:
    'On by default: someone or something switched it off, and it is fixed in a minute.',
  shelfLife: 'setting',
}
