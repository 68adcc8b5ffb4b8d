import type { CatalogueEntry } from './catalogue-entry.ts'
import { OTHER_ACTIVE_ANTIVIRUS_SQL } from './defender-tamper-protection.ts'
import { failingRowsSql, isEmptySql, likeAnySql, quoteListSql, quoteSql } from './verdict-sql.ts'

const OWN = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows Defender\Exclusions`
const POLICY = String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Policies\Microsoft\Windows Defender\Exclusions`

/** Kinds of files that programs and scripts are; nothing else is worth scanning as much. */
const EXTENSIONS = `* bat cmd com dll docm exe hta jar js jse lnk msi ps1 psm1 scr sys vbe vbs wsf xlsm`
/** Programs that others are started with, or that take files from outside. */
const PROCESSES = `chrome.exe cmd.exe cscript.exe excel.exe explorer.exe firefox.exe msedge.exe mshta.exe outlook.exe powershell.exe pwsh.exe regsvr32.exe rundll32.exe svchost.exe winword.exe wscript.exe`
/** Folders behind the letter of the drive. */
const FOLDERS = [
  '',
  ...['programdata', 'program files', 'program files (x86)', 'temp', 'tmp', 'users', 'windows'],
  ...['users\\public', 'windows\\system32', 'windows\\temp'],
].map((folder) => (folder === '' ? ':' : `:\\${folder}`))
const VARIABLES = `%appdata% %localappdata% %programdata% %public% %systemdrive% %systemroot% %temp% %tmp% %userprofile% %windir%`
/** Below the home of anybody. */
const HOME_FOLDERS = [
  'appdata',
  String.raw`appdata\local`,
  String.raw`appdata\local\temp`,
  String.raw`appdata\roaming`,
  'desktop',
  'documents',
  'downloads',
]

const words = (list: string) => quoteListSql(list.split(' '))

// Names of values are what is excluded. Stars and backslashes at the end change nothing about a folder.
const FOLDER = `rtrim(lower(exclusion), '\\*')`
const IS_WIDE = `CASE kind
    WHEN 'extensions' THEN ltrim(lower(exclusion), '.') IN (${words(EXTENSIONS)})
    WHEN 'processes' THEN lower(exclusion) IN (${words(PROCESSES)})
      OR ${likeAnySql(
        'lower(exclusion)',
        PROCESSES.split(' ').map((name) => `%\\${name}`),
      )}
    ELSE ${FOLDER} = '' OR ${FOLDER} IN (${words(VARIABLES)})
      OR substr(${FOLDER}, 2) IN (${quoteListSql(FOLDERS)})
      OR (${FOLDER} LIKE '_:\\users\\%' AND instr(substr(${FOLDER}, 10), '\\') = 0)
      OR ${likeAnySql(
        FOLDER,
        HOME_FOLDERS.flatMap((folder) => [`_:\\users\\%\\${folder}`, `%userprofile%\\${folder}`]),
      )}
  END`

const windows = failingRowsSql(
  ['exclusion', 'kind', 'source'],
  `SELECT exclusion, kind, source FROM exclusions
WHERE (${OTHER_ACTIVE_ANTIVIRUS_SQL}) = 0 AND ${IS_WIDE}`,
  [
    ['INAPPLICABLE', `(${OTHER_ACTIVE_ANTIVIRUS_SQL}) > 0`],
    ['UNKNOWN', isEmptySql(`registry WHERE key = ${quoteSql(OWN)}`)],
  ],
  `exclusions(exclusion, kind, source) AS (
  ${['Paths', 'Extensions', 'Processes']
    .flatMap((kind) => [
      `SELECT name, '${kind.toLowerCase()}', 'setting' FROM registry WHERE key = '${OWN}\\${kind}' AND type <> 'subkey'`,
      `SELECT name, '${kind.toLowerCase()}', 'policy' FROM registry WHERE key = '${POLICY}\\${kind}' AND type <> 'subkey'`,
    ])
    .join('\n  UNION\n  ')}
)`,
)

/** Microsoft Defender is not told to leave out what attackers use. */
export const defenderExclusions: CatalogueEntry = {
  slug: 'defender-exclusions',
  name: 'Microsoft Defender exclusions',
  description:
    'Microsoft Defender is not told to leave out whole drives, homes, system and download folders, kinds of programs and scripts, or programs that others are started with. Narrower exclusions pass. Does not apply where another antivirus product is active.',
  issueTitle: 'Microsoft Defender leaves too much out',
  topics: ['malware'],
  tags: ['Important'],
  queries: { windows },
  primaryKeyColumn: 'exclusion',
  rationaleTemplate: `Microsoft Defender does not look at {{ issue.value.exclusion | code }}. Harmful software is put exactly there, because nobody looks, and often writes such an exclusion itself.`,
  fix: {
    windows: [
      'Open **Start**, type `Windows Security`, open it and choose **Virus & threat protection**.',
      'Under **Virus & threat protection settings** choose **Manage settings**, then **Add or remove exclusions**.',
      'Choose {{ issue.value.exclusion | code }} > **Remove**. If a program needs an exclusion, exclude its own folder only.',
      'If the exclusion cannot be removed, a policy sets it ({{ issue.value.source }}): ask your IT team.',
    ],
  },
  privacyInfo:
    'The exclusions of Microsoft Defender that are too wide, which can hold names of accounts. No scan results.',
  defaultStrategy: 'notify_only',
  strategyReason: 'Needs a human look: mostly made for speed, sometimes by an intruder.',
  shelfLife: 'setting',
}
