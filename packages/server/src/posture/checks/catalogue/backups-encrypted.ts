import type { CatalogueEntry } from './catalogue-entry.ts'
import { failingRowsSql } from './verdict-sql.ts'

const darwin = failingRowsSql(
  ['destination_id', 'alias', 'encryption'],
  `SELECT destination_id, alias, encryption FROM time_machine_destinations WHERE encryption = 'NotEncrypted'`,
)

/** Backups of Time Machine are encrypted. */
export const backupsEncrypted: CatalogueEntry = {
  slug: 'backups-encrypted',
  name: 'Backups encrypted',
  description: 'Every disk that Time Machine backs up to is encrypted.',
  issueTitle: 'A backup disk is not encrypted',
  topics: ['data-protection'],
  tags: ['Important'],
  queries: { darwin },
  primaryKeyColumn: 'destination_id',
  rationaleTemplate: `A backup holds everything that the Mac holds. The disk **{{ issue.value.alias }}** is small enough to lose, and anyone can read it.`,
  fix: {
    darwin: [
      'Open the Apple menu > **System Settings** > **General** > **Time Machine**.',
      'Select **{{ issue.value.alias }}** and choose **–** to stop using it. The old backups stay on the disk.',
      'Choose **+**, select the disk again, switch **Encrypt Backup** on and set a password. If macOS must erase the disk for that, your old backups are lost.',
    ],
  },
  privacyInfo:
    'Name and identifier of backup disks that are not encrypted. Nothing that is on them.',
  defaultStrategy: 'notify_only',
  strategyReason: 'Leaks as much as a lost Mac, but encrypting a disk again takes hours.',
  shelfLife: 'software',
}
