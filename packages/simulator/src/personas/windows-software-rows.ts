import { daysAgo, rowsOf } from './template-rows.ts'
import type { TemplateTables } from './template-rows.ts'

const SERVICE_COLUMNS = 'name display_name service_type status start_type pid path user_account'
const SVCHOST = String.raw`C:\Windows\System32\svchost.exe -k netsvcs -p`

function service(
  name: string,
  title: string,
  status: string,
  startType: string,
): (string | number)[] {
  const pid = status === 'RUNNING' ? 1_000 + name.length * 37 : 0
  return [name, title, 'SHARE_PROCESS', status, startType, pid, SVCHOST, 'LocalSystem']
}

const PROGRAM_COLUMNS = 'name version publisher install_date install_location identifying_number'

function program(name: string, version: string, publisher: string): string[] {
  return [name, version, publisher, '20260311', String.raw`C:\Program Files` + `\\${name}\\`, '']
}

const PROCESS_COLUMNS = 'pid name path cmdline uid gid on_disk parent threads elevated_token'

function processRow(pid: number, path: string, isElevated: boolean): (string | number)[] {
  const name = path.split('\\').at(-1) ?? path
  return [pid, name, path, path, isElevated ? 18 : '{uid}', 544, 1, 4, 6, isElevated ? 1 : 0]
}

/** What is installed and runs on a well-kept Windows laptop. */
export const WINDOWS_SOFTWARE_ROWS: TemplateTables = {
  services: rowsOf(
    SERVICE_COLUMNS,
    service('wscsvc', 'Security Center', 'RUNNING', 'AUTO_START'),
    service('mpssvc', 'Windows Defender Firewall', 'RUNNING', 'AUTO_START'),
    service('WinDefend', 'Microsoft Defender Antivirus Service', 'RUNNING', 'AUTO_START'),
    service('wuauserv', 'Windows Update', 'RUNNING', 'DEMAND_START'),
    service('BITS', 'Background Intelligent Transfer Service', 'RUNNING', 'AUTO_START'),
    service('Spooler', 'Print Spooler', 'RUNNING', 'AUTO_START'),
    service('TermService', 'Remote Desktop Services', 'STOPPED', 'DEMAND_START'),
    service('LanmanServer', 'Server', 'RUNNING', 'AUTO_START'),
    service('W32Time', 'Windows Time', 'RUNNING', 'AUTO_START'),
    service('osqueryd', 'osqueryd', 'RUNNING', 'AUTO_START'),
    service('RemoteRegistry', 'Remote Registry', 'STOPPED', 'DISABLED'),
  ),
  windows_firewall_rules: rowsOf(
    'name app_name action enabled grouping direction protocol local_addresses remote_addresses local_ports remote_ports profile_domain profile_private profile_public service_name',
    [
      'Core Networking - DHCP',
      String.raw`%SystemRoot%\system32\svchost.exe`,
      'Allow',
      1,
      'Core Networking',
      'In',
      'UDP',
      '*',
      '*',
      '68',
      '67',
      1,
      1,
      1,
      'dhcp',
    ],
    [
      'mDNS',
      String.raw`%SystemRoot%\system32\svchost.exe`,
      'Allow',
      1,
      'mDNS',
      'In',
      'UDP',
      '*',
      'LocalSubnet',
      '5353',
      '*',
      0,
      1,
      0,
      'dnscache',
    ],
  ),
  programs: rowsOf(
    PROGRAM_COLUMNS,
    program('Microsoft 365 Apps for business', '16.0.19725.20126', 'Microsoft Corporation'),
    program(
      'Microsoft Visual C++ 2022 X64 Minimum Runtime',
      '14.44.35211',
      'Microsoft Corporation',
    ),
    program('Slack', '4.47.72', 'Slack Technologies Inc.'),
    program('Zoom Workplace (64-bit)', '6.7.2', 'Zoom Communications, Inc.'),
    program('7-Zip 25.01 (x64)', '25.01', 'Igor Pavlov'),
    program('osquery', '5.23.1', 'osquery'),
  ),
  patches: rowsOf(
    'csname hotfix_id caption description installed_by installed_on',
    [
      '{user}',
      'KB5075912',
      'https://support.microsoft.com/help/5075912',
      'Security Update',
      String.raw`NT AUTHORITY\SYSTEM`,
      '11/11/2026',
    ],
    [
      '{user}',
      'KB5066131',
      'https://support.microsoft.com/help/5066131',
      'Update',
      String.raw`NT AUTHORITY\SYSTEM`,
      '9/9/2026',
    ],
  ),
  windows_update_history: rowsOf(
    'client_app_id date description hresult operation result_code server_selection support_url title update_id update_revision',
    [
      'Windows Defender',
      daysAgo(0.4),
      'Security intelligence update',
      0,
      'Installation',
      'Succeeded',
      'WindowsUpdate',
      '',
      'Security Intelligence Update for Microsoft Defender Antivirus - KB2267602 (Version 1.441.92.0)',
      '4d5fc5e6-9c11-4a27-8f6f-1f6f0c7a8a11',
      200,
    ],
  ),
  windows_optional_features: rowsOf(
    'name caption state statename',
    ['Printing-PrintToPDFServices-Features', 'Microsoft Print to PDF', 1, 'Enabled'],
    ['NetFx4-AdvSrvs', '.NET Framework 4.8 Advanced Services', 1, 'Enabled'],
    ['TelnetClient', 'Telnet Client', 2, 'Disabled'],
    ['Containers-DisposableClientVM', 'Windows Sandbox', 2, 'Disabled'],
  ),
  scheduled_tasks: rowsOf(
    'name action path enabled state hidden last_run_time next_run_time last_run_message last_run_code',
    [
      'Scheduled Start',
      String.raw`%systemroot%\system32\sc.exe start wuauserv`,
      String.raw`\Microsoft\Windows\WindowsUpdate\Scheduled Start`,
      1,
      'ready',
      0,
      daysAgo(0.5),
      daysAgo(-0.5),
      'The operation completed successfully.',
      '0x0',
    ],
  ),
  chrome_extensions: rowsOf(
    'browser_type uid name profile identifier version path update_url referenced from_webstore state permissions install_timestamp',
    [
      'chrome',
      '{uid}',
      'Google Docs Offline',
      'Person 1',
      'ghbmnnjooekpmoecnnnilnnbdlolhkhi',
      '1.98.1',
      String.raw`{home}\AppData\Local\Google\Chrome\User Data\Default\Extensions\ghbmnnjooekpmoecnnnilnnbdlolhkhi\1.98.1_0`,
      'https://clients2.google.com/service/update2/crx',
      1,
      'true',
      '',
      'alarms, storage, unlimitedStorage',
      1_780_000_000,
    ],
  ),
  processes: rowsOf(
    PROCESS_COLUMNS,
    processRow(4, 'System', true),
    processRow(980, String.raw`C:\Windows\System32\lsass.exe`, true),
    processRow(
      2_104,
      String.raw`C:\ProgramData\Microsoft\Windows Defender\Platform\4.18.26010.5\MsMpEng.exe`,
      true,
    ),
    processRow(3_312, String.raw`C:\Windows\explorer.exe`, false),
    processRow(4_020, String.raw`C:\Program Files\osquery\osqueryd\osqueryd.exe`, true),
  ),
  listening_ports: rowsOf(
    'pid port protocol family address fd socket path',
    [980, 49_664, 6, 2, '0.0.0.0', 0, 0, ''],
    [4, 445, 6, 2, '0.0.0.0', 0, 0, ''],
    [1_204, 135, 6, 2, '0.0.0.0', 0, 0, ''],
  ),
  startup_items: rowsOf('name path args type source status username', [
    'SecurityHealth',
    String.raw`C:\Windows\system32\SecurityHealthSystray.exe`,
    '',
    'Startup Item',
    String.raw`HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows\CurrentVersion\Run`,
    'enabled',
    'SYSTEM',
  ]),
  certificates: rowsOf(
    'common_name subject issuer ca self_signed not_valid_before not_valid_after signing_algorithm key_algorithm key_strength path serial store_location store',
    [
      'Microsoft Root Certificate Authority 2011',
      'Microsoft Root Certificate Authority 2011',
      'Microsoft Root Certificate Authority 2011',
      1,
      1,
      '1300828928',
      '2089757288',
      'sha256RSA',
      'RSA',
      '4096',
      String.raw`LocalMachine\Trusted Root Certification Authorities`,
      '3f8bc8b5fc9fb29643b569d66c42e144',
      'LocalMachine',
      'Trusted Root Certification Authorities',
    ],
  ),
}
