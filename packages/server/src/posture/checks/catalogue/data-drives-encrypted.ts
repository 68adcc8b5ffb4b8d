import type { CatalogueEntry } from './catalogue-entry.ts'
import { failingRowsSql, isEmptySql } from './verdict-sql.ts'

/** `USBSTOR` and `_??_SD#` as the registry writes them: UTF-16, in hexadecimal. */
const REMOVABLE_PATTERNS = ['550053004200530054004F005200', '5F003F003F005F00530044002300']

// Windows names removable drives in its own language; the device that a letter was given to says it in any.
// Protection status: 0 off, 1 on, 2 unknown because the drive is locked, which only an encrypted one is.
const windows = failingRowsSql(
  ['drive', 'protection'],
  `SELECT letter, CASE conversion_status WHEN 1 THEN 'suspended' WHEN 2 THEN 'encrypting' ELSE 'off' END
FROM drives WHERE protection_status = 0 AND conversion_status <> 2`,
  [
    ['UNKNOWN', isEmptySql('bitlocker_info')],
    ['INAPPLICABLE', isEmptySql('drives')],
  ],
  `drives(letter, protection_status, conversion_status) AS MATERIALIZED (
  SELECT b.drive_letter, b.protection_status, b.conversion_status FROM bitlocker_info b
  WHERE b.drive_letter <> ''
    AND b.drive_letter <> COALESCE((SELECT device_id FROM logical_drives WHERE boot_partition = 1 LIMIT 1), 'C:')
    AND b.drive_letter NOT IN (SELECT device_id FROM logical_drives WHERE description LIKE '%Removable%')
    AND b.drive_letter NOT IN (
      SELECT replace(name, '\\DosDevices\\', '') FROM registry
      WHERE key = 'HKEY_LOCAL_MACHINE\\SYSTEM\\MountedDevices'
        AND (${REMOVABLE_PATTERNS.map((pattern) => `data LIKE '%${pattern}%'`).join(' OR ')})
    )
)`,
)

/** The drives beside the system drive are encrypted as well. */
export const dataDrivesEncrypted: CatalogueEntry = {
  slug: 'data-drives-encrypted',
  name: 'Data drives encrypted',
  description:
    'BitLocker protects every drive beside the system drive. USB sticks and memory cards do not count, nor does a drive that is being encrypted.',
  issueTitle: 'A data drive is not encrypted',
  topics: ['data-protection'],
  tags: ['Important'],
  queries: { windows },
  primaryKeyColumn: 'drive',
  rationaleTemplate: `Drive {{ issue.value.drive | code }} of {{ device.name }} can be taken out and read by anyone, also while the system drive is encrypted.`,
  fix: {
    windows: [
      'Open **Start**, type `BitLocker` and choose **Manage BitLocker**.',
      'Next to drive {{ issue.value.drive | code }} choose **Turn on BitLocker**, or **Resume protection** if it says that protection is suspended.',
      'Tick **Automatically unlock this drive on this computer**, save the recovery key where your organisation says, and choose **Start encrypting**.',
    ],
  },
  privacyInfo: 'Letters of drives that BitLocker does not protect. No names and no files.',
  defaultStrategy: 'notify_only',
  strategyReason: 'Leaks as much as the system drive, but encrypting a large drive takes hours.',
  shelfLife: 'setting',
}
