import type { CatalogueEntry } from './catalogue-entry.ts'
import { isClearedSql, managedPolicyValueSql, verdictSql } from './verdict-sql.ts'

const SETTINGS = `users u CROSS JOIN preferences p ON p.username = u.username WHERE p.domain = 'com.apple.sharingd'`

// macOS does not write the setting before it is changed once; AirDrop is open to contacts then.
const darwin = verdictSql({
  facts: {
    settings_seen: `SELECT COUNT(*) FROM ${SETTINGS}`,
    allowed_by_profile: managedPolicyValueSql('com.apple.applicationaccess', 'allowAirDrop'),
    open_to_everyone: `SELECT group_concat(u.username, ', ') FROM ${SETTINGS} AND p.key = 'DiscoverableMode' AND p.value = 'Everyone'`,
  },
  cases: [
    ['PASS', isClearedSql('allowed_by_profile')],
    ['FAIL', `COALESCE(open_to_everyone, '') <> ''`],
    ['PASS', `settings_seen > 0`],
  ],
})

/** Strangers nearby cannot send files over AirDrop. */
export const airdropNotOpenToEveryone: CatalogueEntry = {
  slug: 'airdrop-not-open-to-everyone',
  revision: 2,
  name: 'AirDrop not open to everyone',
  description:
    'No account lets everyone nearby send files over AirDrop. Unknown where no account has settings of it that osquery can read.',
  issueTitle: 'AirDrop is open to everyone',
  topics: ['data-protection'],
  tags: ['Info'],
  queries: { darwin },
  rationaleTemplate: `In a train or a café strangers see the name of this Mac and can send it files, with an offensive picture as the preview or something harmful inside.`,
  fix: {
    darwin: [
      'Open the Apple menu > **System Settings** > **General** > **AirDrop & Handoff**.',
      'Set **AirDrop** to **Contacts Only** or **No One**.',
    ],
  },
  privacyInfo:
    'The names of the accounts whose AirDrop is open to everyone. No files, no contacts.',
  defaultStrategy: 'report_only',
  strategyReason: 'A nuisance more than a risk, and often needed for a moment.',
  shelfLife: 'setting',
}
