import type { CatalogueEntry } from './catalogue-entry.ts'
import { noActiveUnitsSql, passOrFailSql, registryValueSql } from './verdict-sql.ts'

// 1 denies connections. A policy wins over the setting of the computer.
const windows = passOrFailSql({
  facts: {
    policy_denies: registryValueSql(
      String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Policies\Microsoft\Windows NT\Terminal Services\fDenyTSConnections`,
    ),
    setting_denies: registryValueSql(
      String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control\Terminal Server\fDenyTSConnections`,
    ),
  },
  pass: `COALESCE(policy_denies, setting_denies) = '1'`,
  fail: `COALESCE(policy_denies, setting_denies) = '0'`,
})

const linux = noActiveUnitsSql([
  'gnome-remote-desktop.service',
  'xrdp.service',
  'vncserver-x11-serviced.service',
  'x11vnc.service',
])

/** Nobody can open a desktop session on the device over the network. */
export const remoteDesktopDisabled: CatalogueEntry = {
  slug: 'remote-desktop-disabled',
  name: 'Remote desktop off',
  description:
    'Remote Desktop of Windows, or a system-wide remote desktop server of Linux, does not accept connections.',
  issueTitle: 'Remote desktop is on',
  topics: ['remote-access'],
  tags: ['Important'],
  queries: { windows, linux },
  rationaleTemplate: `Remote desktop is the door that ransomware gangs try first: a guessed or leaked password is enough to sit at {{ device.name }} from anywhere that can reach it.`,
  fix: {
    windows: [
      'Open **Settings** > **System** > **Remote Desktop**.',
      'Switch **Remote Desktop** off and choose **Confirm**.',
      'If the switch cannot be changed, a policy of your organisation sets it: ask your IT team.',
    ],
    linux: [
      'GNOME: open **Settings** > **System** > **Remote Desktop** and switch **Desktop Sharing** and **Remote Login** off.',
      'Otherwise open a terminal and run `sudo systemctl disable --now xrdp.service` with the name of the service that is found: **{{ issue.value.active_units }}**.',
    ],
  },
  privacyInfo: 'Whether a remote desktop server accepts connections. Nothing of the screen.',
  defaultStrategy: 'notify_only',
  strategyReason: 'A common way in, but some people work from another device on purpose.',
  shelfLife: 'setting',
}
