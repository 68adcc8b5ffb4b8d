/*
 * Files that open accounts and lie on the disk in plain text: backup codes of two-factor sign-in, and emergency
 * kits and exports of password managers. They are told by their names; what is in them is never read.
 */
import type { CheckPlatform } from '../check-definition.ts'
import type { CatalogueEntry } from './catalogue-entry.ts'
import { homeFilesSql } from './home-files-sql.ts'
import { failingRowsSql, isEmptySql, likeAnySql } from './verdict-sql.ts'

// Where browsers and people put what they save. `OneDrive%` has the folders that OneDrive has taken over.
const FOLDERS = ['Desktop', 'Documents', 'Downloads']
const PLACES: Readonly<Record<CheckPlatform, readonly string[]>> = {
  darwin: FOLDERS.map((folder) => `${folder}/%`),
  windows: FOLDERS.flatMap((folder) => [`${folder}/%`, `OneDrive%/${folder}/%`]),
  linux: FOLDERS.map((folder) => `${folder}/%`),
}
// It lies in each of these folders of macOS and is no file of anybody: `%` leaves out what begins with a dot.
const ALWAYS_THERE: Readonly<Partial<Record<CheckPlatform, readonly string[]>>> = {
  darwin: FOLDERS.map((folder) => `${folder}/.localized`),
}

// `_` stands for one character: a space, a hyphen or an underscore.
const CODE_NAMES = [
  '%backup_code%',
  '%backupcode%',
  '%backup_verification_code%',
  '%recovery_code%',
  '%recoverycode%',
  '%2fa_code%',
  '%two_factor_code%',
]
const DOCUMENT_ENDINGS = [
  '%.csv',
  '%.docx',
  '%.htm',
  '%.html',
  '%.jpg',
  '%.md',
  '%.pdf',
  '%.png',
  '%.rtf',
  '%.txt',
]

const KIT_NAMES = [
  '%emergency_kit%.pdf',
  '%emergency_kit%.txt',
  '%.1pif',
  '%.1pux',
  '1passwordexport%.csv',
  'bitwarden%export%.csv',
  'bitwarden%export%.json',
  'dashlane%credential%.csv',
  'keeper%.csv',
  'lastpass%.csv',
  'nordpass%.csv',
  'proton%pass%export%.csv',
  'proton%pass%export%.json',
  '%passwords%.csv',
  'logins.csv',
]

/** macOS shows these folders only to agents with Full Disk Access: nothing at all means nothing to be seen. */
function toQuery(platform: CheckPlatform, condition: string): string {
  const places = [...PLACES[platform], ...(ALWAYS_THERE[platform] ?? [])]
  return failingRowsSql(
    ['path', 'size'],
    `SELECT path, size FROM seen WHERE size > 0 AND ${condition}`,
    [['UNKNOWN', isEmptySql('seen')]],
    `seen AS (${homeFilesSql(platform, places)})`,
  )
}

const backupCodes = `${likeAnySql('filename', CODE_NAMES)} AND ${likeAnySql('filename', DOCUMENT_ENDINGS)}`
const kits = `${likeAnySql('filename', KIT_NAMES)} AND filename NOT LIKE '%encrypted%'`

/** No backup codes of two-factor sign-in lie in the folders of people. */
export const twoFactorBackupCodes: CatalogueEntry = {
  slug: 'two-factor-backup-codes',
  name: 'No two-factor backup codes on disk',
  description:
    'No file with the name of saved two-factor backup or recovery codes lies directly in Desktop, Documents or Downloads. Unknown where the agent may not look into these folders: on macOS it needs Full Disk Access.',
  issueTitle: 'Two-factor backup codes lie on the disk',
  topics: ['credentials'],
  tags: ['Important'],
  queries: {
    darwin: toQuery('darwin', backupCodes),
    windows: toQuery('windows', backupCodes),
    linux: toQuery('linux', backupCodes),
  },
  primaryKeyColumn: 'path',
  rationaleTemplate: `By its name, {{ issue.value.path | code }} holds backup codes. Each of them signs in to your account in place of your phone or security key. Whoever copies the file, from a backup or through a harmful program, gets past the second step.`,
  fix: [
    'Open {{ issue.value.path | code }} and look whether it holds backup codes. If it does not, ask for an exemption.',
    'Copy the codes into a note or item of your password manager, or print them and keep the paper in a safe place.',
    'Delete the file and empty the **Trash** or **Recycle Bin**.',
    'If the file was shared or backed up elsewhere, open the security settings of that account and create new codes: the old ones end with that.',
  ],
  privacyInfo:
    'Path and size of files with such a name. Never what is in them, and no other files.',
  defaultStrategy: 'notify_only',
  strategyReason: 'Told by the name of the file, which can be wrong; moved in a minute.',
  shelfLife: 'setting',
}

/** No emergency kit and no export of a password manager lies in the folders of people. */
export const passwordManagerKits: CatalogueEntry = {
  slug: 'password-manager-kits',
  name: 'No password manager kits or exports on disk',
  description:
    'No emergency kit of 1Password and no unencrypted export of a password manager or browser lies directly in Desktop, Documents or Downloads. Unknown where the agent may not look into these folders: on macOS it needs Full Disk Access.',
  issueTitle: 'A password manager’s emergency kit or export lies on the disk',
  topics: ['credentials'],
  tags: ['Critical'],
  queries: {
    darwin: toQuery('darwin', kits),
    windows: toQuery('windows', kits),
    linux: toQuery('linux', kits),
  },
  primaryKeyColumn: 'path',
  rationaleTemplate: `By its name, {{ issue.value.path | code }} is the emergency kit or an export of a password manager. It opens all your passwords at once, and programs that steal look for it first.`,
  fix: [
    'Open {{ issue.value.path | code }} and look what it is. If it is neither a kit nor a list of passwords, ask for an exemption.',
    'An emergency kit: print it and keep the paper where you keep important documents. An export: import it where you need it.',
    'Delete the file and empty the **Trash** or **Recycle Bin**.',
    'If the file was shared or backed up elsewhere, tell your IT team and change the passwords in it, beginning with that of the password manager.',
  ],
  privacyInfo:
    'Path and size of files with such a name. Never what is in them, and no other files.',
  defaultStrategy: 'notify_only',
  strategyReason: 'Opens every account at once, but is told by the name of the file only.',
  shelfLife: 'setting',
}
