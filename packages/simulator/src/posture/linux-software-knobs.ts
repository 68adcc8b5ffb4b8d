import { only, put, remove } from '../personas/template-rows.ts'
import type { TemplateChange } from '../personas/template-rows.ts'
import type { KnobSource } from './knob.ts'
import { debPackage, rpmPackage, systemdUnit } from './shared-knob-rows.ts'

function installed(name: string, version: string): TemplateChange[] {
  return [
    ...only('ubuntu', debPackage(name, version)),
    ...only('fedora', rpmPackage(name, version)),
  ]
}

function notInstalled(name: string): TemplateChange[] {
  return [
    ...only('ubuntu', remove('deb_packages', { name })),
    ...only('fedora', remove('rpm_packages', { name })),
  ]
}

/** What is installed on a Linux device. */
export const LINUX_SOFTWARE_KNOBS: readonly KnobSource[] = [
  {
    name: 'remote-access-tools',
    title: 'No remote access tool is installed',
    good: notInstalled('anydesk'),
    bad: installed('anydesk', '7.0.2'),
  },
  {
    name: 'pending-restart',
    title: 'No update waits for a restart',
    good: [remove('file', { path: '/run/reboot-required' })],
    bad: only(
      'ubuntu',
      put(
        'file',
        {
          path: '/run/reboot-required',
          directory: '/run',
          filename: 'reboot-required',
          uid: 0,
          gid: 0,
          mode: '0644',
          size: 32,
          type: 'regular',
        },
        'path',
      ),
    ),
  },
  {
    name: 'password-manager',
    title: 'A password manager is installed',
    good: installed('1password', '8.12.4'),
    bad: notInstalled('1password'),
  },
  {
    name: 'chrome-version',
    title: 'Chrome is up to date',
    good: installed('google-chrome-stable', '151.0.7922.60-1'),
    bad: installed('google-chrome-stable', '118.0.5993.70-1'),
  },
  {
    name: 'edge-version',
    title: 'Edge is up to date',
    good: installed('microsoft-edge-stable', '151.0.3981.40-1'),
    bad: installed('microsoft-edge-stable', '118.0.2088.46-1'),
  },
  {
    name: 'firefox-version',
    title: 'Firefox is up to date',
    good: installed('firefox-esr', '153.1.0'),
    bad: installed('firefox-esr', '115.3.1'),
  },
  {
    name: 'endpoint-detection',
    title: 'The endpoint detection agent runs',
    good: [
      ...installed('falcon-sensor', '7.34.0-18900'),
      systemdUnit('falcon-sensor.service', true),
    ],
    bad: [...notInstalled('falcon-sensor'), systemdUnit('falcon-sensor.service', false)],
  },
  {
    name: 'unwanted-software',
    title: 'No unwanted software is installed',
    good: notInstalled('transmission-gtk'),
    bad: installed('transmission-gtk', '4.1.0'),
  },
]
