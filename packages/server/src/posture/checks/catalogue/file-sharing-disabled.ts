import type { CatalogueEntry } from './catalogue-entry.ts'
import { sharingSwitchOffSql, switchSharingOff } from './macos-sharing.ts'
import { noActiveUnitsSql, verdictSql } from './verdict-sql.ts'

// Names that end in $ are the hidden shares that Windows makes for its administration: one of them is
// there while the server service runs. Type 0 is a folder or a drive.
const windows = verdictSql({
  facts: {
    shared_folders: `SELECT COUNT(*) FROM shared_resources WHERE type = 0 AND name NOT LIKE '%$'`,
    server_service: `SELECT status FROM services WHERE name = 'LanmanServer' LIMIT 1`,
    share_names: `SELECT group_concat(name, ', ') FROM shared_resources WHERE type = 0 AND name NOT LIKE '%$'`,
  },
  cases: [
    ['FAIL', `shared_folders > 0`],
    ['PASS', `server_service = 'STOPPED' OR EXISTS (SELECT 1 FROM shared_resources)`],
  ],
})

const linux = noActiveUnitsSql([
  'smbd.service',
  'smb.service',
  'nfs-server.service',
  'nfs-kernel-server.service',
  'vsftpd.service',
])

/** The device offers no folders to the network. */
export const fileSharingDisabled: CatalogueEntry = {
  slug: 'file-sharing-disabled',
  revision: 2,
  name: 'File sharing off',
  description: 'The device offers no folders to other devices on the network.',
  issueTitle: 'Folders are shared with the network',
  topics: ['data-protection'],
  tags: ['Info'],
  queries: { darwin: sharingSwitchOffSql('file_sharing'), windows, linux },
  rationaleTemplate: `A folder that was shared at home is also offered in the next café. Others on the network may read it, change it, or put files into it that you then open.`,
  fix: {
    darwin: switchSharingOff('File Sharing'),
    windows: [
      'Open **Start**, type `computer management` and open it.',
      'Choose **Shared Folders** > **Shares**. You will find: **{{ issue.value.share_names }}**.',
      'Right-click each of them, choose **Stop Sharing** and confirm. Leave names that end in **$** alone.',
    ],
    linux: `Open a terminal and switch off what is running (**{{ issue.value.active_units }}**), for example:

- Ubuntu and Debian: \`sudo systemctl disable --now smbd.service nfs-kernel-server.service\`
- Fedora and Red Hat: \`sudo systemctl disable --now smb.service nfs-server.service\``,
  },
  privacyInfo: 'Whether folders are shared and, on Windows, the names of the shares. No files.',
  defaultStrategy: 'report_only',
  strategyReason: 'Common in offices and protected by passwords; good to know.',
  shelfLife: 'setting',
}
