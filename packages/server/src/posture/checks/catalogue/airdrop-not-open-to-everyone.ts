import type { CatalogueEntry } from './catalogue-entry.ts'
import { verdictSql } from './verdict-sql.ts'

const darwin = verdictSql({
  facts: {
    open_to_everyone: `SELECT group_concat(u.username, ', ') FROM users u CROSS JOIN preferences p ON p.username = u.username WHERE p.domain = 'com.apple.sharingd' AND p.key = 'DiscoverableMode' AND p.value = 'Everyone'`,
  },
  cases: [['FAIL', `COALESCE(open_to_everyone, '') <> ''`]],
  otherwise: 'PASS',
})

/** Strangers nearby cannot send files over AirDrop. */
export const airdropNotOpenToEveryone: CatalogueEntry = {
  slug: 'airdrop-not-open-to-everyone',
  name: 'AirDrop not open to everyone',
  description: 'No account lets everyone nearby send files over AirDrop.',
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
