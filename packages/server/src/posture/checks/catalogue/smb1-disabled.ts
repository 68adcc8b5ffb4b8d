import type { CatalogueEntry } from './catalogue-entry.ts'
import { registryValueSql, verdictSql } from './verdict-sql.ts'

// State: 1 enabled, 2 disabled, 3 absent.
const windows = verdictSql({
  facts: {
    feature_state: `SELECT state FROM windows_optional_features WHERE name = 'SMB1Protocol' LIMIT 1`,
    server_setting: registryValueSql(
      String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\LanmanServer\Parameters\SMB1`,
    ),
  },
  cases: [
    ['FAIL', `feature_state = 1 AND COALESCE(server_setting, '1') <> '0'`],
    ['PASS', `feature_state IN (1, 2, 3) OR server_setting = '0'`],
  ],
})

/** Windows does not speak the first, unsafe version of its file sharing protocol. */
export const smb1Disabled: CatalogueEntry = {
  slug: 'smb1-disabled',
  name: 'SMB 1 off',
  description: 'The outdated version 1 of the Windows file sharing protocol is switched off.',
  issueTitle: 'The outdated SMB 1 protocol is on',
  topics: ['network'],
  tags: ['Important'],
  queries: { windows },
  rationaleTemplate: `SMB 1 is more than thirty years old and cannot be made safe: the WannaCry worm spread through it. Only very old printers and storage devices still need it.`,
  fix: {
    windows: [
      'Open **Start**, type `Windows features` and open **Turn Windows features on or off**.',
      'Clear **SMB 1.0/CIFS File Sharing Support**, choose **OK** and restart.',
    ],
  },
  privacyInfo: 'Whether SMB 1 is installed and switched on.',
  defaultStrategy: 'notify_only',
  strategyReason: 'Dangerous inside a network, but an old device may depend on it.',
  shelfLife: 'software',
}
