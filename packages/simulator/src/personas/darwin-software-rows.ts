import { daysAgo, rowsOf } from './template-rows.ts'
import type { TemplateTables } from './template-rows.ts'

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

/** What is installed and runs on a well-kept Mac. */
export const DARWIN_SOFTWARE_ROWS: TemplateTables = {
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
  chrome_extensions: rowsOf(
    'browser_type uid name profile identifier version path update_url referenced from_webstore state permissions install_timestamp',
    [
      'chrome',
      '{uid}',
      'Google Docs Offline',
      'Person 1',
      'ghbmnnjooekpmoecnnnilnnbdlolhkhi',
      '1.98.1',
      '{home}/Library/Application Support/Google/Chrome/Default/Extensions/ghbmnnjooekpmoecnnnilnnbdlolhkhi/1.98.1_0',
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
      'com.apple.systemdefault',
      '/CN=com.apple.systemdefault/O=System Identity',
      '/CN=com.apple.systemdefault/O=System Identity',
      1,
      1,
      '1746001236',
      '2377153236',
      'sha256WithRSAEncryption',
      'rsaEncryption',
      '2048',
      '/Library/Keychains/System.keychain',
      '4F2A9C11',
    ],
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
}
