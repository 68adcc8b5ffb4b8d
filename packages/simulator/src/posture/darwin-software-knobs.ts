import { put, remove, set } from '../personas/template-rows.ts'
import type { KnobSource } from './knob.ts'
import { macApp } from './shared-knob-rows.ts'

/** What is installed on a Mac and which networks and backups it uses. */
export const DARWIN_SOFTWARE_KNOBS: readonly KnobSource[] = [
  {
    name: 'password-manager',
    title: 'A password manager is installed',
    good: [macApp('1Password', 'com.1password.1password', '8.12.4')],
    bad: [remove('apps', { bundle_identifier: 'com.1password.1password' })],
  },
  {
    name: 'chrome-version',
    title: 'Chrome is up to date',
    good: [macApp('Google Chrome', 'com.google.Chrome', '151.0.7922.60')],
    bad: [macApp('Google Chrome', 'com.google.Chrome', '118.0.5993.70')],
  },
  {
    name: 'edge-version',
    title: 'Edge is up to date',
    good: [macApp('Microsoft Edge', 'com.microsoft.edgemac', '151.0.3981.40')],
    bad: [macApp('Microsoft Edge', 'com.microsoft.edgemac', '118.0.2088.46')],
  },
  {
    name: 'firefox-version',
    title: 'Firefox is up to date',
    good: [macApp('Firefox', 'org.mozilla.firefox', '152.0.1')],
    bad: [macApp('Firefox', 'org.mozilla.firefox', '115.3.1')],
  },
  {
    name: 'safari-version',
    title: 'Safari is up to date',
    good: [macApp('Safari', 'com.apple.Safari', '26.4')],
    bad: [macApp('Safari', 'com.apple.Safari', '17.6')],
  },
  {
    name: 'xcode-version',
    title: 'Xcode is up to date, where it is installed',
    good: [remove('apps', { bundle_identifier: 'com.apple.dt.Xcode' })],
    bad: [macApp('Xcode', 'com.apple.dt.Xcode', '15.4')],
  },
  {
    name: 'office-version',
    title: 'Microsoft Office is up to date',
    good: [macApp('Microsoft Word', 'com.microsoft.Word', '16.105')],
    bad: [macApp('Microsoft Word', 'com.microsoft.Word', '16.78')],
  },
  {
    name: 'endpoint-detection',
    title: 'The endpoint detection agent runs',
    good: [
      macApp('Falcon', 'com.crowdstrike.falcon.App', '7.34'),
      put('processes', falconProcess(), 'pid'),
    ],
    bad: [
      remove('apps', { bundle_identifier: 'com.crowdstrike.falcon.App' }),
      remove('processes', { pid: 640 }),
    ],
  },
  {
    name: 'unwanted-software',
    title: 'No unwanted software is installed',
    good: [remove('apps', { bundle_identifier: 'com.bittorrent.uTorrent' })],
    bad: [macApp('uTorrent', 'com.bittorrent.uTorrent', '1.8.7')],
  },
  {
    name: 'open-wifi',
    title: 'No open Wi-Fi network is joined by itself',
    good: [remove('wifi_networks', { network_name: 'Airport Free WiFi' })],
    bad: [
      put(
        'wifi_networks',
        {
          network_name: 'Airport Free WiFi',
          security_type: 'Open',
          auto_join: 1,
          captive_portal: 1,
        },
        'network_name',
      ),
    ],
  },
  {
    name: 'remote-access-tools',
    title: 'No remote access tool is installed',
    good: [remove('apps', { bundle_identifier: 'com.teamviewer.TeamViewer' })],
    bad: [macApp('TeamViewer', 'com.teamviewer.TeamViewer', '15.66.5')],
  },
  {
    name: 'launch-items',
    title: 'Nothing starts from a temporary folder',
    good: [remove('launchd', { label: 'com.example.helper' })],
    bad: [
      put(
        'launchd',
        {
          path: '{home}/Library/LaunchAgents/com.example.helper.plist',
          name: 'com.example.helper.plist',
          label: 'com.example.helper',
          program: '/Users/Shared/.helper',
          program_arguments: '/Users/Shared/.helper --quiet',
          run_at_load: '1',
        },
        'label',
      ),
    ],
  },
  {
    name: 'backup-encryption',
    title: 'Time Machine backups are encrypted',
    good: [set('time_machine_destinations', { encryption: 'Encrypted' })],
    bad: [set('time_machine_destinations', { encryption: 'NotEncrypted' })],
  },
]

function falconProcess(): Record<string, string | number> {
  const path =
    '/Applications/Falcon.app/Contents/Library/SystemExtensions/com.crowdstrike.falcon.Agent'
  return { pid: 640, name: 'com.crowdstrike.falcon.Agent', path, cmdline: path, uid: 0, on_disk: 1 }
}
