import type { CatalogueEntry } from './catalogue-entry.ts'
import { failingRowsSql, isEmptySql } from './verdict-sql.ts'

const SETTINGS = '/Library/Preferences/com.apple.TimeMachine.plist'

// macOS lets osquery see that the settings of Time Machine exist, and read them only with Full Disk Access.
const darwin = failingRowsSql(
  ['destination_id', 'alias', 'encryption'],
  `SELECT destination_id, alias, encryption FROM time_machine_destinations WHERE encryption = 'NotEncrypted'`,
  [
    [
      'UNKNOWN',
      `${isEmptySql('time_machine_destinations')} AND ${isEmptySql(`plist WHERE path = '${SETTINGS}'`)} AND EXISTS (SELECT 1 FROM file WHERE path = '${SETTINGS}')`,
    ],
    ['INAPPLICABLE', isEmptySql('time_machine_destinations')],
    [
      'UNKNOWN',
      `EXISTS (SELECT 1 FROM time_machine_destinations WHERE COALESCE(encryption, '') = '')`,
    ],
  ],
)

/** Backups of Time Machine are encrypted. */
export const backupsEncrypted: CatalogueEntry = {
  slug: 'backups-encrypted',
  revision: 2,
  name: 'Backups encrypted',
  description:
    'Every disk that Time Machine backs up to is encrypted. Inapplicable where Time Machine is not set up; unknown where osquery has no Full Disk Access, which its table needs.',
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
