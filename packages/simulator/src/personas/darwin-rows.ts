import { POSIX_ROWS } from './posix-rows.ts'
import { daysAgo, rowsOf } from './template-rows.ts'
import type { TemplateTables } from './template-rows.ts'

const ROOT_VOLUME = '3F9A7C21-5B0D-4E6A-9C11-7D2A60E1B4F8'
const XPROTECT_INFO =
  '/Library/Apple/System/Library/CoreServices/XProtect.bundle/Contents/Info.plist'

const APP_COLUMNS =
  'name path bundle_identifier bundle_name bundle_short_version bundle_executable bundle_package_type minimum_system_version category last_opened_time'

function app(file: string, identifier: string, version: string): (string | number)[] {
  const name = file.replace(/\.app$/, '')
  return [
    file,
    `/Applications/${file}`,
    identifier,
    name,
    version,
    name,
    'APPL',
    '14.0',
    '',
    1_790_000_000.25,
  ]
}

const LAUNCHD_COLUMNS = 'path name label program run_at_load keep_alive disabled program_arguments'

function daemon(label: string, program: string): string[] {
  const file = `${label}.plist`
  return [`/Library/LaunchDaemons/${file}`, file, label, program, '1', '1', '0', program]
}

const PROCESS_COLUMNS = 'pid name path cmdline state uid gid euid egid on_disk parent threads nice'

function processRow(pid: number, path: string, uid: number | string): (string | number)[] {
  const name = path.split('/').at(-1) ?? path
  return [pid, name, path, path, 'S', uid, uid === 0 ? 0 : 20, uid, 20, 1, 1, 4, 0]
}

/** What a well-kept Mac has apart from what the posture knobs decide. */
export const DARWIN_ROWS: TemplateTables = {
  ...POSIX_ROWS,
  kernel_info: rowsOf('version arguments path device', [
    '25.4.0',
    '',
    '/System/Library/Kernels/kernel',
    ROOT_VOLUME,
  ]),
  mounts: rowsOf(
    'device device_alias path type blocks_size blocks blocks_free blocks_available inodes inodes_free flags',
    [
      '/dev/disk3s1s1',
      '/dev/disk3s1s1',
      '/',
      'apfs',
      4096,
      121_138_304,
      71_000_000,
      71_000_000,
      2_840_000_000,
      2_839_000_000,
      '1409323009',
    ],
    [
      '/dev/disk3s5',
      '/dev/disk3s5',
      '/System/Volumes/Data',
      'apfs',
      4096,
      121_138_304,
      71_000_000,
      71_000_000,
      2_840_000_000,
      2_839_000_000,
      '1417711616',
    ],
  ),
  block_devices: rowsOf(
    'name parent vendor model size block_size uuid type label',
    [
      '/dev/disk0',
      '',
      'APPLE',
      'APPLE SSD AP0512Z',
      122_138_133,
      4096,
      '',
      'GUID_partition_scheme',
      '',
    ],
    [
      '/dev/disk3s1',
      '/dev/disk3',
      'APPLE',
      'AppleAPFSMedia',
      121_138_304,
      4096,
      ROOT_VOLUME,
      '41504653-0000-11AA-AA11-00306543ECAC',
      'Macintosh HD',
    ],
  ),
  disk_encryption: rowsOf(
    'name uuid encrypted type encryption_status uid user_uuid filevault_status',
    ['/dev/disk3s1', ROOT_VOLUME, 1, 'APFS Encryption', 'encrypted', '{uid}', '', 'on'],
    [
      '/dev/disk3s5',
      '5C0E2D7B-94A1-4B1F-8E57-0D6B3F72A9C4',
      1,
      'APFS Encryption',
      'encrypted',
      '{uid}',
      '',
      'on',
    ],
    ['/dev/disk3s4', '9D2E1F5A-0B6C-4D8E-A7F3-1C5B9E8D2A60', 0, '', 'not encrypted', '', '', 'off'],
  ),
  alf: rowsOf(
    'allow_signed_enabled firewall_unload global_state logging_enabled logging_option stealth_enabled version',
    [1, 0, 1, 0, 0, 1, '1.6'],
  ),
  alf_exceptions: rowsOf('path state', ['/usr/libexec/rapportd', 0], ['/usr/sbin/smbd', 0]),
  screenlock: rowsOf('enabled grace_period', [1, 0]),
  sharing_preferences: rowsOf(
    'screen_sharing file_sharing printer_sharing remote_login remote_management remote_apple_events internet_sharing bluetooth_sharing disc_sharing content_caching',
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ),
  gatekeeper: rowsOf('assessments_enabled dev_id_enabled version opaque_version', [
    1,
    1,
    '8.0',
    '94',
  ]),
  sip_config: rowsOf(
    'config_flag enabled enabled_nvram',
    ['sip', 1, 1],
    ['allow_apple_internal', 0, 0],
    ['allow_device_configuration', 0, 0],
    ['allow_kernel_debugger', 0, 0],
    ['allow_task_for_pid', 0, 0],
    ['allow_unrestricted_dtrace', 0, 0],
    ['allow_unrestricted_fs', 0, 0],
    ['allow_unrestricted_nvram', 0, 0],
    ['allow_untrusted_kexts', 0, 0],
  ),
  secureboot: rowsOf('secure_boot secure_mode description kernel_extensions mdm_operations', [
    1,
    null,
    'Full Security',
    0,
    0,
  ]),
  apps: rowsOf(
    APP_COLUMNS,
    app('Safari.app', 'com.apple.Safari', '26.4'),
    app('Mail.app', 'com.apple.mail', '16.0'),
    app('Numbers.app', 'com.apple.iWork.Numbers', '14.5'),
    app('Slack.app', 'com.tinyspeck.slackmacgap', '4.47.72'),
    app('zoom.us.app', 'us.zoom.xos', '6.7.2'),
    app('Visual Studio Code.app', 'com.microsoft.VSCode', '1.112.0'),
    app('Microsoft Word.app', 'com.microsoft.Word', '16.105'),
    app('Figma.app', 'com.figma.Desktop', '126.3.7'),
    app('Terminal.app', 'com.apple.Terminal', '2.15'),
  ),
  homebrew_packages: rowsOf(
    'name path version type auto_updates app_name',
    ['git', '/opt/homebrew/Cellar/git/2.53.0', '2.53.0', 'formula', 0, ''],
    ['jq', '/opt/homebrew/Cellar/jq/1.8.1', '1.8.1', 'formula', 0, ''],
    ['openssl@3', '/opt/homebrew/Cellar/openssl@3/3.6.1', '3.6.1', 'formula', 0, ''],
  ),
  launchd: rowsOf(
    LAUNCHD_COLUMNS,
    daemon(
      'com.google.keystone.daemon',
      '/Library/Google/GoogleSoftwareUpdate/GoogleSoftwareUpdate.bundle',
    ),
    daemon(
      'com.microsoft.autoupdate.helper',
      '/Library/PrivilegedHelperTools/com.microsoft.autoupdate.helper',
    ),
    daemon('io.osquery.agent', '/opt/osquery/lib/osquery.app/Contents/MacOS/osqueryd'),
  ),
  startup_items: rowsOf('name path args type source status username', [
    'Slack',
    '/Applications/Slack.app',
    '',
    'login item',
    'backgroundtaskmanagement',
    'enabled, allowed, notified',
    '{user}',
  ]),
  plist: rowsOf(
    'key subkey value path',
    ['CFBundleShortVersionString', '', '5334', XPROTECT_INFO],
    ['lastUserName', '', '{user}', '/Library/Preferences/com.apple.loginwindow.plist'],
  ),
  preferences: rowsOf(
    'domain key subkey value forced username host',
    ['com.apple.loginwindow', 'lastUserName', '', '{user}', 0, '', 'any'],
    ['com.apple.screensaver', 'moduleDict', 'moduleName', 'Drift', 0, '{user}', 'current'],
  ),
  managed_policies: rowsOf('domain uuid name value username manual', [
    'com.apple.applicationaccess',
    '8E1B9F40-6D2C-4A53-B7E8-5F3C0A9D6E12',
    'allowAirDrop',
    '1',
    '',
    0,
  ]),
  password_policy: rowsOf('uid policy_identifier policy_content policy_description', [
    -1,
    'com.apple.policy.legacy.minChars',
    "policyAttributePassword matches '.{12,}+'",
    'Enter a password that is twelve characters or more.',
  ]),
  users: rowsOf(
    'uid gid uid_signed gid_signed username description directory shell uuid is_hidden',
    [
      '{uid}',
      20,
      '{uid}',
      20,
      '{user}',
      '{name}',
      '{home}',
      '/bin/zsh',
      '0A6D3B5E-1F27-4C89-9D40-2B7E8A5C6F13',
      0,
    ],
    [
      0,
      0,
      0,
      0,
      'root',
      'System Administrator',
      '/var/root',
      '/bin/sh',
      'FFFFEEEE-DDDD-CCCC-BBBB-AAAA00000000',
      0,
    ],
    [
      4294967294,
      4294967294,
      -2,
      -2,
      'nobody',
      'Unprivileged User',
      '/var/empty',
      '/usr/bin/false',
      'FFFFEEEE-DDDD-CCCC-BBBB-AAAAFFFFFFFE',
      0,
    ],
  ),
  groups: rowsOf(
    'gid gid_signed groupname is_hidden',
    [20, 20, 'staff', 0],
    [80, 80, 'admin', 0],
    [0, 0, 'wheel', 0],
  ),
  user_groups: rowsOf('uid gid', ['{uid}', 20], ['{uid}', 80], [0, 0], [0, 80]),
  logged_in_users: rowsOf('type user tty host time pid', [
    'user',
    '{user}',
    'console',
    '',
    daysAgo(0.2),
    412,
  ]),
  chrome_extensions: rowsOf(
    'browser_type uid name profile identifier version path from_webstore state permissions install_timestamp',
    [
      'chrome',
      '{uid}',
      'Google Docs Offline',
      'Person 1',
      'ghbmnnjooekpmoecnnnilnnbdlolhkhi',
      '1.98.1',
      '{home}/Library/Application Support/Google/Chrome/Default/Extensions/ghbmnnjooekpmoecnnnilnnbdlolhkhi/1.98.1_0',
      'true',
      '1',
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
      '{home}/Library/Application Support/Firefox/Profiles/default/extensions/uBlock0@raymondhill.net.xpi',
    ],
  ),
  processes: rowsOf(
    PROCESS_COLUMNS,
    processRow(1, '/sbin/launchd', 0),
    processRow(310, '/usr/libexec/airportd', 0),
    processRow(
      412,
      '/System/Library/CoreServices/loginwindow.app/Contents/MacOS/loginwindow',
      '{uid}',
    ),
    processRow(501, '/opt/osquery/lib/osquery.app/Contents/MacOS/osqueryd', 0),
    processRow(733, '/Applications/Slack.app/Contents/MacOS/Slack', '{uid}'),
  ),
  listening_ports: rowsOf(
    'pid port protocol family address fd socket path',
    [310, 5353, 17, 2, '0.0.0.0', 9, 0, ''],
    [733, 49_311, 6, 2, '127.0.0.1', 31, 0, ''],
  ),
  wifi_networks: rowsOf(
    'network_name security_type last_connected_automatic auto_join captive_portal personal_hotspot temporarily_disabled',
    ['Example Office', 'WPA3 Personal', daysAgo(0.3), 1, 0, 0, 0],
    ['Home of {name}', 'WPA2/WPA3 Personal', daysAgo(0.7), 1, 0, 0, 0],
  ),
  certificates: rowsOf(
    'common_name subject issuer ca self_signed not_valid_before not_valid_after signing_algorithm key_algorithm key_strength path serial',
    [
      'Apple Root CA',
      '/C=US/O=Apple Inc./CN=Apple Root CA',
      '/C=US/O=Apple Inc./CN=Apple Root CA',
      1,
      1,
      '1146001236',
      '2054670036',
      'sha1WithRSAEncryption',
      'rsaEncryption',
      '2048',
      '/System/Library/Keychains/SystemRootCertificates.keychain',
      '02',
    ],
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
      '/System/Library/Keychains/SystemRootCertificates.keychain',
      '8210CFB0D240E3594463E0BB63828B00',
    ],
  ),
  file: rowsOf(
    'path directory filename uid gid mode size type symlink mtime',
    ['/etc/sudoers', '/etc', 'sudoers', 0, 0, '0440', 1563, 'regular', 0, daysAgo(90)],
    ['{home}', '/Users', '{user}', '{uid}', 20, '0750', 1120, 'directory', 0, daysAgo(1)],
    ['{home}/.ssh', '{home}', '.ssh', '{uid}', 20, '0700', 192, 'directory', 0, daysAgo(40)],
  ),
  sudoers: rowsOf(
    'source header rule_details',
    ['/etc/sudoers', 'root', 'ALL = (ALL) ALL'],
    ['/etc/sudoers', '%admin', 'ALL = (ALL) ALL'],
  ),
  usb_devices: rowsOf('usb_address usb_port vendor vendor_id model model_id removable', [
    1,
    1,
    'Example Peripherals',
    '05ac',
    'Keyboard',
    '024f',
    1,
  ]),
  time_machine_destinations: rowsOf('alias destination_id bytes_available bytes_used encryption', [
    'Backup',
    'D3A1B7C9-2E4F-4A68-9B0D-7C5E1F82A364',
    812_000_000_000,
    188_000_000_000,
    'Encrypted',
  ]),
}
