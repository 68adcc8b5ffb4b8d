import { daysAgo, rowsOf } from './template-rows.ts'
import type { TemplateRow, TemplateTables } from './template-rows.ts'

const UNIT_COLUMNS =
  'id description load_state active_state sub_state unit_file_state fragment_path user'

function unit(id: string, description: string, subState = 'running'): string[] {
  const path = `/usr/lib/systemd/system/${id}`
  return [id, description, 'loaded', 'active', subState, 'enabled', path, '']
}

const PROCESS_COLUMNS = 'pid name path cmdline state uid gid euid egid on_disk parent threads nice'

function processRow(pid: number, path: string, uid: number | string): (string | number)[] {
  const name = path.split('/').at(-1) ?? path
  return [pid, name, path, path, 'S', uid, uid, uid, uid, 1, 1, 3, 0]
}

const SYSTEM_ACCOUNTS = ['daemon', 'bin', 'sys', 'mail', 'systemd-network', 'polkitd'] as const

/** Who uses a well-kept Linux laptop and what runs there. */
export const LINUX_ACCOUNT_ROWS: TemplateTables = {
  systemd_units: rowsOf(
    UNIT_COLUMNS,
    unit('dbus.service', 'D-Bus System Message Bus'),
    unit('NetworkManager.service', 'Network Manager'),
    unit('systemd-journald.service', 'Journal Service'),
    unit('cron.service', 'Regular background program processing daemon'),
    unit('osqueryd.service', 'The osquery Daemon'),
    unit('graphical.target', 'Graphical Interface', 'active'),
  ),
  users: [
    ...rowsOf(
      'uid gid uid_signed gid_signed username description directory shell uuid',
      ['{uid}', '{uid}', '{uid}', '{uid}', '{user}', '{name}', '{home}', '/bin/bash', ''],
      [0, 0, 0, 0, 'root', 'root', '/root', '/bin/bash', ''],
    ),
    ...SYSTEM_ACCOUNTS.map((username, index): TemplateRow => ({
      uid: index + 1,
      gid: index + 1,
      uid_signed: index + 1,
      gid_signed: index + 1,
      username,
      description: username,
      directory: '/nonexistent',
      shell: '/usr/sbin/nologin',
      uuid: '',
    })),
  ],
  shadow: [
    ...rowsOf(
      'username password_status hash_alg last_change min max warning inactive expire',
      ['{user}', 'active', 'y', 20_400, 0, 99_999, 7, -1, -1],
      ['root', 'locked', '', 20_100, 0, 99_999, 7, -1, -1],
    ),
    ...SYSTEM_ACCOUNTS.map((username): TemplateRow => ({
      username,
      password_status: 'locked',
      hash_alg: '',
    })),
  ],
  groups: rowsOf(
    'gid gid_signed groupname',
    [0, 0, 'root'],
    [4, 4, 'adm'],
    ['{uid}', '{uid}', '{user}'],
  ),
  user_groups: rowsOf('uid gid', ['{uid}', '{uid}'], ['{uid}', 4], [0, 0]),
  logged_in_users: rowsOf('type user tty host time pid', [
    'user',
    '{user}',
    'tty2',
    '',
    daysAgo(0.3),
    1_804,
  ]),
  chrome_extensions: rowsOf(
    'browser_type uid name profile identifier version path update_url referenced from_webstore state permissions install_timestamp',
    [
      'chrome',
      '{uid}',
      'Google Docs Offline',
      'Person 1',
      'ghbmnnjooekpmoecnnnilnnbdlolhkhi',
      '1.98.1',
      '{home}/.config/google-chrome/Default/Extensions/ghbmnnjooekpmoecnnnilnnbdlolhkhi/1.98.1_0',
      'https://clients2.google.com/service/update2/crx',
      1,
      'true',
      '',
      'alarms, storage, unlimitedStorage',
      1_780_000_000,
    ],
  ),
  firefox_addons: rowsOf(
    'uid name identifier type version active disabled autoupdate location path',
    [
      '{uid}',
      'uBlock Origin',
      'uBlock0@raymondhill.net',
      'extension',
      '1.69.0',
      1,
      0,
      1,
      'app-profile',
      '{home}/.mozilla/firefox/default/extensions/uBlock0@raymondhill.net.xpi',
    ],
  ),
  processes: rowsOf(
    PROCESS_COLUMNS,
    processRow(1, '/usr/lib/systemd/systemd', 0),
    processRow(702, '/usr/sbin/NetworkManager', 0),
    processRow(911, '/opt/osquery/bin/osqueryd', 0),
    processRow(1_804, '/usr/bin/gnome-shell', '{uid}'),
    processRow(2_950, '/usr/lib/firefox/firefox', '{uid}'),
  ),
  listening_ports: rowsOf(
    'pid port protocol family address fd socket path net_namespace',
    [650, 53, 17, 2, '127.0.0.53', 13, 21_202, '', '4026531840'],
    [2_110, 631, 6, 2, '127.0.0.1', 7, 30_111, '', '4026531840'],
  ),
  sudoers: rowsOf(
    'source header rule_details',
    ['/etc/sudoers', 'Defaults', 'env_reset'],
    ['/etc/sudoers', 'Defaults', 'use_pty'],
    ['/etc/sudoers', 'root', 'ALL=(ALL:ALL) ALL'],
    ['/etc/sudoers', '%sudo', 'ALL=(ALL:ALL) ALL'],
  ),
  crontab: rowsOf(
    'event minute hour day_of_month month day_of_week command path',
    [
      '',
      '17',
      '*',
      '*',
      '*',
      '*',
      'root cd / && run-parts --report /etc/cron.hourly',
      '/etc/crontab',
    ],
    [
      '',
      '25',
      '6',
      '*',
      '*',
      '*',
      'root test -x /usr/sbin/anacron || run-parts --report /etc/cron.daily',
      '/etc/crontab',
    ],
  ),
  certificates: rowsOf(
    'common_name subject issuer ca self_signed not_valid_before not_valid_after signing_algorithm key_algorithm key_strength path serial',
    [
      'ISRG Root X1',
      '/C=US/O=Internet Security Research Group/CN=ISRG Root X1',
      '/C=US/O=Internet Security Research Group/CN=ISRG Root X1',
      1,
      1,
      '1433415878',
      '2064567878',
      'sha256WithRSAEncryption',
      'rsaEncryption',
      '4096',
      '/etc/ssl/certs/ca-certificates.crt',
      '8210CFB0D240E3594463E0BB63828B00',
    ],
  ),
}
