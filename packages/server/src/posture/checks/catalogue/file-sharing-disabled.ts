import type { CheckDefinition } from '../check-definition.ts'
import { sharingSwitchOffSql } from './macos-sharing-sql.ts'
import { platformText, steps } from './platform-text.ts'
import { SHELF_LIFE_SETTING_SECONDS } from './shelf-life.ts'
import { activeUnitsSql, verdictSql } from './verdict-sql.ts'

// Names that end in $ are the hidden shares that Windows makes for its administration. Type 0 is a
// folder or a drive.
const windows = verdictSql({
  facts: {
    shared_folders: `SELECT COUNT(*) FROM shared_resources WHERE type = 0 AND name NOT LIKE '%$'`,
    share_names: `SELECT group_concat(name, ', ') FROM shared_resources WHERE type = 0 AND name NOT LIKE '%$'`,
  },
  cases: [['FAIL', `shared_folders > 0`]],
  otherwise: 'PASS',
})

const linux = verdictSql({
  facts: {
    units_seen: `SELECT COUNT(*) FROM systemd_units`,
    active_units: activeUnitsSql([
      'smbd.service',
      'smb.service',
      'nfs-server.service',
      'nfs-kernel-server.service',
      'vsftpd.service',
    ]),
  },
  cases: [
    ['UNKNOWN', `units_seen = 0`],
    ['FAIL', `active_units IS NOT NULL`],
  ],
  otherwise: 'PASS',
})

/** The device offers no folders to the network. */
export const fileSharingDisabled: CheckDefinition = {
  slug: 'file-sharing-disabled',
  revision: 1,
  name: 'File sharing off',
  description: 'The device offers no folders to other devices on the network.',
  issueTitle: 'Folders are shared with the network',
  platforms: ['darwin', 'windows', 'linux'],
  topics: ['data-protection'],
  tags: ['Info'],
  queries: { darwin: sharingSwitchOffSql('file_sharing'), windows, linux },
  rationaleTemplate: `A folder that was shared at home is also offered in the next café. Others on the network may read it, change it, or put files into it that you then open.`,
  fixInstructionsTemplate: platformText({
    darwin: steps(
      'Open the Apple menu > **System Settings** > **General** > **Sharing**.',
      'Switch **File Sharing** off.',
    ),
    windows: steps(
      'Open **Start**, type `computer management` and open it.',
      'Choose **Shared Folders** > **Shares**. You will find: **{{ issue.value.share_names }}**.',
      'Right-click each of them, choose **Stop Sharing** and confirm. Leave names that end in **$** alone.',
    ),
    linux: `Open a terminal and switch off what is running (**{{ issue.value.active_units }}**), for example:

- Ubuntu and Debian: \`sudo systemctl disable --now smbd.service nfs-kernel-server.service\`
- Fedora and Red Hat: \`sudo systemctl disable --now smb.service nfs-server.service\``,
  }),
  privacyInfo: 'Whether folders are shared and, on Windows, the names of the shares. No files.',
  defaultStrategy: 'report_only',
  graceDays: 0,
  strategyReason: 'Common in offices and protected by passwords; good to know.',
  authCheckRunShelfLifeSeconds: SHELF_LIFE_SETTING_SECONDS,
}
