import { numberSteps, type CatalogueEntry } from './catalogue-entry.ts'
import { passOrFailSql } from './verdict-sql.ts'

const darwin = passOrFailSql({
  facts: {
    filevault_status: `SELECT filevault_status FROM disk_encryption WHERE filevault_status IN ('on', 'off') ORDER BY filevault_status = 'on' DESC LIMIT 1`,
    encrypted_volumes: `SELECT COUNT(*) FROM disk_encryption WHERE filevault_status = 'on'`,
  },
  pass: `filevault_status = 'on'`,
  fail: `filevault_status = 'off'`,
})

// Protection status: 0 off, 1 on, 2 unknown because the drive is locked.
const windows = passOrFailSql({
  with: `system_drive(letter) AS (
  SELECT COALESCE((SELECT device_id FROM logical_drives WHERE boot_partition = 1 LIMIT 1), 'C:')
)`,
  facts: {
    drive_letter: `SELECT letter FROM system_drive`,
    protection_status: `SELECT b.protection_status FROM bitlocker_info b JOIN system_drive d ON b.drive_letter = d.letter LIMIT 1`,
    conversion_status: `SELECT b.conversion_status FROM bitlocker_info b JOIN system_drive d ON b.drive_letter = d.letter LIMIT 1`,
  },
  pass: `protection_status = 1`,
  fail: `protection_status = 0`,
})

const linux = passOrFailSql({
  facts: {
    root_device: `SELECT device_alias FROM mounts WHERE path = '/' LIMIT 1`,
    encrypted: `SELECT MAX(d.encrypted) FROM mounts m JOIN disk_encryption d ON d.name = m.device_alias WHERE m.path = '/'`,
    encryption_type: `SELECT d.type FROM mounts m JOIN disk_encryption d ON d.name = m.device_alias WHERE m.path = '/' LIMIT 1`,
  },
  pass: `encrypted = 1`,
  fail: `encrypted = 0`,
})

/** The disk that the operating system runs from is encrypted: FileVault, BitLocker or LUKS. */
export const diskEncryption: CatalogueEntry = {
  slug: 'disk-encryption',
  name: 'Disk encryption',
  description: 'The system disk is encrypted with FileVault, BitLocker or LUKS.',
  issueTitle: 'The disk is not encrypted',
  topics: ['data-protection'],
  tags: ['Critical'],
  queries: { darwin, windows, linux },
  rationaleTemplate: `Whoever finds or steals {{ device.name }} can take out its disk and read everything on it: documents, mail, saved passwords and sessions. The password that you sign in with does not prevent that. Encryption does: without your password the disk holds only noise.`,
  fix: {
    darwin: [
      'Open the Apple menu > **System Settings** and choose **Privacy & Security**.',
      'Scroll down to **FileVault** and choose **Turn On…**. Enter your password when asked.',
      'Choose how to unlock the disk if you forget your password. Follow what your organisation says about recovery keys; if it says nothing, write the key down and keep it away from the Mac.',
      'Keep the Mac plugged in. Encryption runs in the background while you work.',
    ],
    windows: [
      'Open **Start**, type `BitLocker` and choose **Manage BitLocker**. (Windows Home: open **Settings** > **Privacy & security** > **Device encryption** and switch it on.)',
      'Next to drive **{{ issue.value.drive_letter | default: "C:" }}** choose **Turn on BitLocker**. If it says that protection is suspended, choose **Resume protection**.',
      'Save the recovery key where your organisation says; never only on this computer.',
      'Choose **Encrypt entire drive**, then **Start encrypting**. You can keep working; restart when asked.',
    ],
    linux: `Linux cannot encrypt a system disk while it is in use, so this takes a fresh installation.

${numberSteps([
  'Copy everything you need to an encrypted backup and tell your IT team before you begin.',
  'Start the installer of your distribution from a USB stick.',
  'Ubuntu: on the page **Disk setup** choose **Erase disk and install Ubuntu**, then **Advanced features…** > **Use LVM and encryption**. Fedora: on the page **Storage configuration** tick **Encrypt my data**.',
  'Choose a long passphrase, finish the installation and restore your files.',
])}

To see the present state, run \`lsblk -o NAME,TYPE,MOUNTPOINTS\`: the line of \`/\` must stand below one of the type \`crypt\`.`,
  },
  privacyInfo:
    'Whether the system disk is encrypted, by which method, and the name of its device or drive letter. No file names and no recovery keys.',
  defaultStrategy: 'warn_then_block',
  graceDays: 7,
  strategyReason: 'A lost device without it is a data breach; a week is enough to switch it on.',
  shelfLife: 'setting',
}
